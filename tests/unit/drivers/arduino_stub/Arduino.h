// As much of Arduino's interface as the sketch uses; prints what reaches the wire.
#ifndef ARDUINO_STUB_H
#define ARDUINO_STUB_H
#include <stddef.h>
#include <stdint.h>

enum { LOW = 0, HIGH = 1, OUTPUT = 1 };
enum { A0 = 14, A1, A2, A3, A4, A5, A6, A7 };

uint32_t millis();
void pinMode(int pin, int mode);
void digitalWrite(int pin, int level);
int analogRead(int pin);
void analogReadResolution(int bits);

struct SerialPort {
  void begin(long baud);
  int available();
  int read();
  int availableForWrite();
  size_t write(const uint8_t* data, size_t length);
};
extern SerialPort Serial;
#endif

// Runs setup() and two rounds of loop().
#include "Arduino.h"
#include "Wire.h"
#include <stdio.h>

void setup();
void loop();

SerialPort Serial;
TwoWire Wire;
static uint32_t now_ms = 0;

uint32_t millis() { return now_ms; }
void pinMode(int, int) {}
void digitalWrite(int pin, int level) { printf("pin %d: %d\n", pin, level); }
int analogRead(int) { return 2048; }
void analogReadResolution(int) {}
void SerialPort::begin(long) {}
int SerialPort::available() { return 0; }
int SerialPort::read() { return -1; }
int SerialPort::availableForWrite() { return 256; }
size_t SerialPort::write(const uint8_t*, size_t length) { return length; }
void TwoWire::begin() {}
void TwoWire::setClock(uint32_t) {}
void TwoWire::beginTransmission(uint8_t address) { printf("%02x:", address); }
void TwoWire::write(uint8_t byte) { printf(" %02x", byte); }
uint8_t TwoWire::endTransmission() {
  printf("\n");
  return 0;
}

int main() {
  setup();
  loop();
  now_ms = 60;
  loop();
}

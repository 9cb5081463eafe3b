#ifndef WIRE_STUB_H
#define WIRE_STUB_H
#include <stdint.h>

struct TwoWire {
  void begin();
  void setClock(uint32_t hertz);
  void beginTransmission(uint8_t address);
  void write(uint8_t byte);
  uint8_t endTransmission();
};
extern TwoWire Wire;
#endif

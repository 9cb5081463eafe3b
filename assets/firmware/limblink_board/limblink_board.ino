// limblink board: up to 16 proportional valves on 0-10 V outputs, with a watchdog that
// vents. Wiring and building: ../README.md. Protocol: app/README.md.
//
// For Teensy 4, Arduino Giga and Arduino Due. Settings of your own rig stand first.
#include <Arduino.h>
#include <Wire.h>

#include "board_core.h"

#if defined(ARDUINO_ARCH_MBED)
#include <mbed.h>
#elif defined(__IMXRT1062__)
#include <Watchdog_t4.h>  // library of that name, by tonton81
#endif

#if !defined(LIMBLINK_GP8403) && !defined(LIMBLINK_MCP4728)
#define LIMBLINK_GP8403
#endif

namespace {

// --- settings of this rig

const uint8_t kChannels = 8;
const uint32_t kSerial = 1;
const char kName[] = "limblink board";

const uint8_t kInputPins[] = {A0, A1, A2, A3, A4, A5, A6, A7};
const uint32_t kInputFullScaleMv = 10000;  // at the divider's top, when the ADC is full
const int kInputBits = 12;

const uint8_t kVentPin = 2;  // HIGH holds the vent shut: without power it opens
const uint32_t kRefreshMs = 50;  // outputs are written again, should a DAC have restarted
const uint32_t kHangMs = 250;    // the processor restarts when loop() stands this long

static_assert(kChannels <= limblink::kMostChannels, "at most 16 channels");
static_assert(sizeof(kInputPins) >= kChannels, "a pin for each channel");

// --- outputs

uint16_t twelve_bits(uint16_t value_mv) {
  const uint32_t code = (static_cast<uint32_t>(value_mv) * 4095u + 5000u) / 10000u;
  return static_cast<uint16_t>(code > 4095u ? 4095u : code);
}

bool wire_write(uint8_t address, const uint8_t* data, uint8_t length) {
  Wire.beginTransmission(address);
  for (uint8_t i = 0; i < length; ++i) Wire.write(data[i]);
  return Wire.endTransmission() == 0;
}

#if defined(LIMBLINK_GP8403)

// Two outputs a chip, from address 0x58 up; 0-10 V without an amplifier.
const uint8_t kChipOutputs = 2;

bool dac_begin(uint8_t chip) {
  const uint8_t range_10_v[] = {0x01, 0x11};
  return wire_write(static_cast<uint8_t>(0x58 + chip), range_10_v, sizeof(range_10_v));
}

bool dac_write(uint8_t chip, uint8_t output, uint16_t value_mv) {
  const uint16_t code = static_cast<uint16_t>(twelve_bits(value_mv) << 4);
  const uint8_t data[] = {static_cast<uint8_t>(output == 0 ? 0x02 : 0x04),
                          static_cast<uint8_t>(code & 0xFF),
                          static_cast<uint8_t>(code >> 8)};
  return wire_write(static_cast<uint8_t>(0x58 + chip), data, sizeof(data));
}

#else

// MCP4728: four outputs a chip, from address 0x60 up; internal reference, 0-4.096 V, so
// that each needs an amplifier of 10 V / 4.096 V.
const uint8_t kChipOutputs = 4;

bool dac_begin(uint8_t) { return true; }

bool dac_write(uint8_t chip, uint8_t output, uint16_t value_mv) {
  const uint16_t code = twelve_bits(value_mv);
  const uint8_t data[] = {static_cast<uint8_t>(0x40 | (output << 1)),
                          static_cast<uint8_t>(0x90 | (code >> 8)),
                          static_cast<uint8_t>(code & 0xFF)};
  return wire_write(static_cast<uint8_t>(0x60 + chip), data, sizeof(data));
}

#endif

// --- the board

class Pins : public limblink::Hardware {
 public:
  Pins() : vent_known_(false), vent_open_(true) {}

  void begin() {
    pinMode(kVentPin, OUTPUT);
    digitalWrite(kVentPin, LOW);
    analogReadResolution(kInputBits);
    Wire.begin();
    Wire.setClock(400000);
    for (uint8_t i = 0; i < kChannels; ++i) known_[i] = false;
  }

  // Forgets what was written, so that the next step writes every output again.
  void refresh() {
    for (uint8_t i = 0; i < kChannels; ++i) known_[i] = false;
    vent_known_ = false;
  }

  bool write_output_mv(uint8_t channel, uint16_t value_mv) override {
    if (known_[channel] && written_mv_[channel] == value_mv) return true;
    const uint8_t chip = static_cast<uint8_t>(channel / kChipOutputs);
    const uint8_t output = static_cast<uint8_t>(channel % kChipOutputs);
    const bool first = output == 0;
    known_[channel] = (!first || known_[channel] || dac_begin(chip)) &&
                      dac_write(chip, output, value_mv);
    written_mv_[channel] = value_mv;
    return known_[channel];
  }

  uint16_t read_input_mv(uint8_t channel) override {
    const uint32_t count = static_cast<uint32_t>(analogRead(kInputPins[channel]));
    return static_cast<uint16_t>(count * kInputFullScaleMv / ((1u << kInputBits) - 1u));
  }

  uint16_t read_load_ma(uint8_t) override { return 0; }  // no current sensor on this rig

  void set_vent(bool open) override {
    if (vent_known_ && vent_open_ == open) return;
    vent_known_ = true;
    vent_open_ = open;
    digitalWrite(kVentPin, open ? LOW : HIGH);
  }

  void send(const uint8_t* data, size_t length) override {
    // A host that does not read must not stop the watchdog: no room, no answer.
    if (static_cast<size_t>(Serial.availableForWrite()) < length) return;
    Serial.write(data, length);
  }

 private:
  bool known_[limblink::kMostChannels];
  uint16_t written_mv_[limblink::kMostChannels];
  bool vent_known_;
  bool vent_open_;
};

Pins pins;
limblink::Board board(pins, kChannels, kSerial, kName);
uint32_t refreshed_ms = 0;

// --- the processor's own watchdog, for a loop that hangs (an I2C bus that is held)

#if defined(ARDUINO_ARCH_MBED)
void guard_begin() { mbed::Watchdog::get_instance().start(kHangMs); }
void guard_kick() { mbed::Watchdog::get_instance().kick(); }
#elif defined(__IMXRT1062__)
WDT_T4<WDT1> guard;
void guard_begin() {
  WDT_timings_t timing;
  timing.timeout = kHangMs < 500 ? 0.5 : kHangMs / 1000.0;  // its least is 0.5 s
  guard.begin(timing);
}
void guard_kick() { guard.feed(); }
#elif defined(ARDUINO_ARCH_SAM)
void guard_begin() {}
void guard_kick() { watchdogReset(); }
#else
void guard_begin() {}
void guard_kick() {}
#endif

}  // namespace

#if defined(ARDUINO_ARCH_SAM)
void watchdogSetup() { watchdogEnable(kHangMs); }  // called by the core before setup()
#endif

void setup() {
  pins.begin();
  Serial.begin(115200);
  board.begin(millis());
  guard_begin();
}

void loop() {
  const uint32_t now_ms = millis();
  if (now_ms - refreshed_ms >= kRefreshMs) {
    refreshed_ms = now_ms;
    pins.refresh();
  }
  board.step(now_ms);
  for (int left = Serial.available(); left > 0; --left) {
    board.receive(static_cast<uint8_t>(Serial.read()), now_ms);
  }
  guard_kick();
}

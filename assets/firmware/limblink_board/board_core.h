// What a limblink board does: setpoints in, outputs, measurements back, and a watchdog
// that vents.
//
// Portable C++11: no heap, no Arduino; the time is an argument, in milliseconds that may
// wrap. Mirrors app/drivers/virtual/board.py byte for byte.
#ifndef LIMBLINK_BOARD_CORE_H
#define LIMBLINK_BOARD_CORE_H

#include "board_frame.h"

namespace limblink {

const uint16_t kFirmwareVersion = 0x0100;  // major, minor
const uint16_t kHighestOutputMv = 10000;
const uint16_t kLeastWatchdogMs = 20;
const uint16_t kGreatestWatchdogMs = 5000;
const uint16_t kFirstWatchdogMs = 200;

enum Action : uint8_t { kFollow = 0, kHold = 1, kRelax = 2, kSafe = 3 };

enum StatusBit : uint16_t {
  kSetUp = 1,
  kTripped = 2,
  kVented = 4,
  kOutputFailed = 8,
  kChannelFault = 16,
  kDuplicate = 32,
  kRefused = 64
};

// The pins of one board; see limblink_board.ino for real ones.
class Hardware {
 public:
  // Sets an output [mV]; false where the DAC does not answer.
  virtual bool write_output_mv(uint8_t channel, uint16_t value_mv) = 0;
  virtual uint16_t read_input_mv(uint8_t channel) = 0;
  virtual uint16_t read_load_ma(uint8_t channel) = 0;  // 0 where none is measured
  virtual void set_vent(bool open) = 0;
  virtual void send(const uint8_t* data, size_t length) = 0;

 protected:
  ~Hardware() {}
};

class Board {
 public:
  // The name is cut or padded to 16 bytes. Outputs go to 0 V, the vent opens.
  Board(Hardware& hardware, uint8_t channels, uint32_t serial, const char* name);
  void begin(uint32_t now_ms);

  // Takes one byte of the line; answers through Hardware::send.
  void receive(uint8_t byte, uint32_t now_ms);

  // Reads the inputs, runs the watchdog, writes the outputs. Call it often.
  void step(uint32_t now_ms);

 private:
  struct Limits {
    uint16_t greatest_mv;
    uint16_t relax_mv;
    uint16_t trip_mv;  // 0: none
  };

  void answer(const uint8_t* payload, size_t length, uint32_t now_ms);
  bool drive(FrameFields& fields, uint16_t sequence, uint32_t now_ms);
  bool setup(FrameFields& fields, uint16_t sequence);
  void clear();
  void relax_targets();
  void apply();
  void send_status(uint16_t sequence, uint16_t extra_bits, uint32_t now_ms);
  void send_identity(uint16_t sequence);
  void send_limits(uint16_t sequence);
  void reject() { ++rejected_; }

  Hardware& hardware_;
  const uint8_t channels_;
  const uint32_t serial_;
  char name_[16];
  FrameReader reader_;

  uint32_t started_ms_;
  uint32_t last_drive_ms_;
  uint16_t watchdog_ms_;
  uint16_t rejected_;
  uint16_t faults_;
  uint16_t last_sequence_;
  bool has_sequence_;
  bool set_up_;
  bool tripped_;
  bool output_failed_;
  uint8_t action_;
  Limits limits_[kMostChannels];
  uint16_t target_mv_[kMostChannels];
  uint16_t applied_mv_[kMostChannels];
};

}  // namespace limblink

#endif

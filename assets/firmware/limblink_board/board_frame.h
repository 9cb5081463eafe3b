// Frames of the limblink board protocol, version 1: COBS and CRC-16/IBM-3740.
//
// Portable C++11: no heap, no Arduino, no clock. Mirrors app/drivers/board_codec.py;
// the format tables stand in app/README.md.
#ifndef LIMBLINK_BOARD_FRAME_H
#define LIMBLINK_BOARD_FRAME_H

#include <stddef.h>
#include <stdint.h>

namespace limblink {

const uint8_t kProtocol = 1;
const uint8_t kMostChannels = 16;
const size_t kLongestFrame = 128;  // bytes between two zeros [B]

enum Kind : uint8_t {
  kDrive = 0x01,
  kSetup = 0x02,
  kIdentify = 0x03,
  kClear = 0x04,
  kStatus = 0x81,
  kSetupReply = 0x82,
  kIdentity = 0x83
};

// CRC-16, polynomial 0x1021, start 0xFFFF, not reflected.
uint16_t crc16(const uint8_t* data, size_t length);

// Undoes COBS in place. Returns the decoded length, or -1 where it is not COBS.
int cobs_decode(uint8_t* data, size_t length);

// Builds one frame: header, fields, then finish(), which leaves the wire's bytes.
class FrameWriter {
 public:
  FrameWriter(Kind kind, uint16_t sequence);
  void put8(uint8_t value);
  void put16(uint16_t value);
  void put32(uint32_t value);
  size_t finish();  // adds the checksum, stuffs, closes with a zero
  const uint8_t* wire() const { return wire_; }

 private:
  uint8_t payload_[kLongestFrame];
  uint8_t wire_[kLongestFrame + 2];
  size_t length_;
};

// Reads the fields of a checked frame; past its end it reads zeros and says so.
class FrameFields {
 public:
  FrameFields(const uint8_t* data, size_t length);
  uint8_t get8();
  uint16_t get16();
  size_t left() const { return length_ - at_; }

 private:
  const uint8_t* data_;
  size_t length_;
  size_t at_;
};

// Collects bytes up to a zero.
class FrameReader {
 public:
  enum Result { kNothing, kFrame, kBad };

  FrameReader() : length_(0), too_long_(false), frame_length_(0) {}
  // Takes one byte. kFrame: payload() holds a frame with a valid checksum.
  Result take(uint8_t byte);
  const uint8_t* payload() const { return held_; }
  size_t payload_length() const { return frame_length_; }  // without the checksum

 private:
  uint8_t held_[kLongestFrame];
  size_t length_;
  bool too_long_;
  size_t frame_length_;
};

}  // namespace limblink

#endif

#include "board_frame.h"

namespace limblink {

uint16_t crc16(const uint8_t* data, size_t length) {
  uint16_t crc = 0xFFFF;
  for (size_t i = 0; i < length; ++i) {
    crc = static_cast<uint16_t>(crc ^ (static_cast<uint16_t>(data[i]) << 8));
    for (int bit = 0; bit < 8; ++bit) {
      const bool top = (crc & 0x8000) != 0;
      crc = static_cast<uint16_t>(crc << 1);
      if (top) crc = static_cast<uint16_t>(crc ^ 0x1021);
    }
  }
  return crc;
}

int cobs_decode(uint8_t* data, size_t length) {
  size_t in = 0;
  size_t out = 0;
  while (in < length) {
    const uint8_t code = data[in++];
    if (code == 0) return -1;
    const size_t copied = static_cast<size_t>(code) - 1;
    if (in + copied > length) return -1;
    for (size_t i = 0; i < copied; ++i) data[out++] = data[in++];
    if (code != 0xFF && in < length) data[out++] = 0;
  }
  return static_cast<int>(out);
}

FrameWriter::FrameWriter(Kind kind, uint16_t sequence) : length_(0) {
  put8(kProtocol);
  put8(kind);
  put16(sequence);
}

void FrameWriter::put8(uint8_t value) {
  if (length_ < sizeof(payload_)) payload_[length_++] = value;
}

void FrameWriter::put16(uint16_t value) {
  put8(static_cast<uint8_t>(value & 0xFF));
  put8(static_cast<uint8_t>(value >> 8));
}

void FrameWriter::put32(uint32_t value) {
  put16(static_cast<uint16_t>(value & 0xFFFF));
  put16(static_cast<uint16_t>(value >> 16));
}

size_t FrameWriter::finish() {
  put16(crc16(payload_, length_));
  size_t out = 1;
  size_t code_at = 0;
  uint8_t code = 1;  // no run reaches 254: a payload has at most 128 bytes
  for (size_t i = 0; i < length_; ++i) {
    if (payload_[i] == 0) {
      wire_[code_at] = code;
      code_at = out++;
      code = 1;
    } else {
      wire_[out++] = payload_[i];
      ++code;
    }
  }
  wire_[code_at] = code;
  wire_[out++] = 0;
  return out;
}

FrameFields::FrameFields(const uint8_t* data, size_t length)
    : data_(data), length_(length), at_(0) {}

uint8_t FrameFields::get8() { return at_ < length_ ? data_[at_++] : 0; }

uint16_t FrameFields::get16() {
  const uint16_t low = get8();
  const uint16_t high = get8();
  return static_cast<uint16_t>(low | (high << 8));
}

FrameReader::Result FrameReader::take(uint8_t byte) {
  if (byte != 0) {
    if (length_ == sizeof(held_)) {
      too_long_ = true;
    } else {
      held_[length_++] = byte;
    }
    return kNothing;
  }
  const size_t length = length_;
  const bool too_long = too_long_;
  length_ = 0;
  too_long_ = false;
  if (too_long) return kBad;
  if (length == 0) return kNothing;
  const int decoded = cobs_decode(held_, length);
  if (decoded < 6) return kBad;  // header and checksum
  frame_length_ = static_cast<size_t>(decoded) - 2;
  const uint16_t check = static_cast<uint16_t>(
      held_[frame_length_] | (static_cast<uint16_t>(held_[frame_length_ + 1]) << 8));
  return crc16(held_, frame_length_) == check ? kFrame : kBad;
}

}  // namespace limblink

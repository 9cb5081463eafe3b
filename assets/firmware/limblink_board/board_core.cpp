#include "board_core.h"

namespace limblink {

namespace {

uint16_t at_most(uint16_t value, uint16_t greatest) {
  return value < greatest ? value : greatest;
}

}  // namespace

Board::Board(Hardware& hardware, uint8_t channels, uint32_t serial, const char* name)
    : hardware_(hardware),
      channels_(channels < kMostChannels ? channels : kMostChannels),
      serial_(serial),
      started_ms_(0),
      last_drive_ms_(0),
      watchdog_ms_(kFirstWatchdogMs),
      rejected_(0),
      faults_(0),
      last_sequence_(0),
      has_sequence_(false),
      set_up_(false),
      tripped_(false),
      output_failed_(false),
      action_(kSafe) {
  bool ended = false;
  for (size_t i = 0; i < sizeof(name_); ++i) {
    ended = ended || name[i] == '\0';
    name_[i] = ended ? '\0' : name[i];
  }
  for (uint8_t i = 0; i < kMostChannels; ++i) {
    limits_[i].greatest_mv = 0;
    limits_[i].relax_mv = 0;
    limits_[i].trip_mv = 0;
    target_mv_[i] = 0;
    applied_mv_[i] = 0;
  }
}

void Board::begin(uint32_t now_ms) {
  started_ms_ = now_ms;
  last_drive_ms_ = now_ms;
  apply();
}

void Board::receive(uint8_t byte, uint32_t now_ms) {
  switch (reader_.take(byte)) {
    case FrameReader::kNothing:
      return;
    case FrameReader::kBad:
      reject();
      return;
    case FrameReader::kFrame:
      answer(reader_.payload(), reader_.payload_length(), now_ms);
  }
}

void Board::step(uint32_t now_ms) {
  for (uint8_t i = 0; i < channels_; ++i) {
    const uint16_t trip_mv = limits_[i].trip_mv;
    if (trip_mv != 0 && hardware_.read_input_mv(i) > trip_mv) {
      faults_ = static_cast<uint16_t>(faults_ | (1u << i));
    }
  }
  // Unsigned, so that it holds when the milliseconds wrap after 49.7 days.
  if (action_ != kSafe && now_ms - last_drive_ms_ >= watchdog_ms_) {
    tripped_ = true;
    action_ = kSafe;
    relax_targets();
  }
  apply();
}

void Board::answer(const uint8_t* payload, size_t length, uint32_t now_ms) {
  FrameFields fields(payload, length);
  const uint8_t version = fields.get8();
  const uint8_t kind = fields.get8();
  const uint16_t sequence = fields.get16();
  if (version != kProtocol) {
    reject();
    return;
  }
  step(now_ms);  // silence that has lasted too long counts before this frame does
  switch (kind) {
    case kDrive:
      if (!drive(fields, sequence, now_ms)) reject();
      return;
    case kSetup:
      if (!setup(fields, sequence)) reject();
      return;
    case kIdentify:
      if (fields.left() != 0) {
        reject();
      } else {
        send_identity(sequence);
      }
      return;
    case kClear:
      if (fields.left() != 0) {
        reject();
      } else {
        clear();
        send_status(sequence, 0, now_ms);
      }
      return;
    default:
      reject();
  }
}

bool Board::drive(FrameFields& fields, uint16_t sequence, uint32_t now_ms) {
  if (fields.left() < 4) return false;
  const uint8_t asked = fields.get8();
  const uint8_t count = fields.get8();
  const uint16_t driven = fields.get16();
  if (asked > kSafe || count != channels_ || fields.left() != 2u * count) return false;
  if (has_sequence_ && sequence == last_sequence_) {
    send_status(sequence, kDuplicate, now_ms);
    return true;
  }
  has_sequence_ = true;
  last_sequence_ = sequence;
  const bool moves = asked == kFollow || asked == kHold;
  if (!set_up_ || output_failed_ || (tripped_ && moves)) {
    send_status(sequence, asked == action_ ? 0 : kRefused, now_ms);
    return true;
  }
  tripped_ = false;
  last_drive_ms_ = now_ms;
  action_ = asked;
  if (asked == kFollow) {
    for (uint8_t i = 0; i < channels_; ++i) {
      const uint16_t setpoint_mv = fields.get16();
      target_mv_[i] = (driven >> i) & 1u
                          ? at_most(setpoint_mv, limits_[i].greatest_mv)
                          : limits_[i].relax_mv;
    }
  } else if (asked != kHold) {
    relax_targets();
  }
  apply();
  send_status(sequence, asked == action_ ? 0 : kRefused, now_ms);
  return true;
}

bool Board::setup(FrameFields& fields, uint16_t sequence) {
  if (fields.left() < 4) return false;
  const uint16_t watchdog_ms = fields.get16();
  const uint8_t count = fields.get8();
  fields.get8();
  if (count != channels_ || fields.left() != 6u * count) return false;
  watchdog_ms_ = at_most(watchdog_ms, kGreatestWatchdogMs);
  if (watchdog_ms_ < kLeastWatchdogMs) watchdog_ms_ = kLeastWatchdogMs;
  for (uint8_t i = 0; i < channels_; ++i) {
    limits_[i].greatest_mv = at_most(fields.get16(), kHighestOutputMv);
    limits_[i].relax_mv = at_most(fields.get16(), limits_[i].greatest_mv);
    limits_[i].trip_mv = fields.get16();
  }
  set_up_ = true;
  tripped_ = false;
  has_sequence_ = false;
  action_ = kSafe;
  relax_targets();
  apply();
  send_limits(sequence);
  return true;
}

void Board::clear() {
  faults_ = 0;
  output_failed_ = false;
  action_ = kSafe;
  relax_targets();
  apply();
}

void Board::relax_targets() {
  for (uint8_t i = 0; i < channels_; ++i) target_mv_[i] = limits_[i].relax_mv;
}

void Board::apply() {
  if (output_failed_) action_ = kSafe;
  bool written = true;
  for (uint8_t i = 0; i < channels_; ++i) {
    const bool off = action_ == kSafe || ((faults_ >> i) & 1u) != 0;
    applied_mv_[i] = off ? 0 : target_mv_[i];
    if (!hardware_.write_output_mv(i, applied_mv_[i])) written = false;
  }
  if (!written && !output_failed_) {
    output_failed_ = true;
    relax_targets();
    apply();  // once more, now to 0 V and with the vent open
    return;
  }
  hardware_.set_vent(action_ == kSafe);
}

void Board::send_status(uint16_t sequence, uint16_t extra_bits, uint32_t now_ms) {
  uint16_t bits = extra_bits;
  if (set_up_) bits |= kSetUp;
  if (tripped_) bits |= kTripped;
  if (action_ == kSafe) bits |= kVented;
  if (output_failed_) bits |= kOutputFailed;
  if (faults_ != 0) bits |= kChannelFault;
  FrameWriter frame(kStatus, sequence);
  frame.put32(now_ms - started_ms_);
  frame.put16(kFirmwareVersion);
  frame.put16(watchdog_ms_);
  frame.put16(bits);
  frame.put16(rejected_);
  frame.put16(faults_);
  frame.put8(action_);
  frame.put8(channels_);
  for (uint8_t i = 0; i < channels_; ++i) frame.put16(applied_mv_[i]);
  for (uint8_t i = 0; i < channels_; ++i) frame.put16(hardware_.read_input_mv(i));
  for (uint8_t i = 0; i < channels_; ++i) frame.put16(hardware_.read_load_ma(i));
  hardware_.send(frame.wire(), frame.finish());
}

void Board::send_identity(uint16_t sequence) {
  FrameWriter frame(kIdentity, sequence);
  frame.put16(kFirmwareVersion);
  frame.put8(channels_);
  frame.put8(0);
  frame.put32(serial_);
  for (size_t i = 0; i < sizeof(name_); ++i) frame.put8(static_cast<uint8_t>(name_[i]));
  hardware_.send(frame.wire(), frame.finish());
}

void Board::send_limits(uint16_t sequence) {
  FrameWriter frame(kSetupReply, sequence);
  frame.put16(watchdog_ms_);
  frame.put8(channels_);
  frame.put8(0);
  for (uint8_t i = 0; i < channels_; ++i) {
    frame.put16(limits_[i].greatest_mv);
    frame.put16(limits_[i].relax_mv);
    frame.put16(limits_[i].trip_mv);
  }
  hardware_.send(frame.wire(), frame.finish());
}

}  // namespace limblink

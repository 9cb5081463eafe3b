// The firmware's core as a program of this computer, for tests and for trying a driver.
//
//   board_host pty CHANNELS       makes a pseudo terminal, prints its path, serves it in
//                                 real time until its standard input closes; outputs
//                                 reach the inputs through a lag of 50 ms; a line tells
//                                 whenever the vent moves: "MONOTONIC_MS vent open"
//   board_host script CHANNELS    virtual time: reads records from standard input and
//                                 answers each on standard output, little endian
//     record   u32 now_ms, u8 flags (1: DAC fails), u16 measured_mv[n], u16 load_ma[n],
//              u16 length, bytes
//     answer   u16 length, bytes, u16 output_mv[n], u8 vent
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "../limblink_board/board_core.h"

namespace {

const uint32_t kSerial = 7;
const char kName[] = "limblink host";
const int kTickMs = 2;
const double kLagMs = 50.0;

class HostHardware : public limblink::Hardware {
 public:
  HostHardware() : dac_fails(false), vent(true), answer_length(0) {
    memset(output_mv, 0, sizeof(output_mv));
    memset(measured_mv, 0, sizeof(measured_mv));
    memset(load_ma, 0, sizeof(load_ma));
  }
  virtual ~HostHardware() {}

  bool write_output_mv(uint8_t channel, uint16_t value_mv) override {
    if (dac_fails) return false;
    output_mv[channel] = value_mv;
    return true;
  }
  uint16_t read_input_mv(uint8_t channel) override { return measured_mv[channel]; }
  uint16_t read_load_ma(uint8_t channel) override { return load_ma[channel]; }
  void set_vent(bool open) override { vent = open; }
  void send(const uint8_t* data, size_t length) override {
    if (answer_length + length > sizeof(answer)) return;
    memcpy(answer + answer_length, data, length);
    answer_length += length;
  }

  bool dac_fails;
  bool vent;
  uint16_t output_mv[limblink::kMostChannels];
  uint16_t measured_mv[limblink::kMostChannels];
  uint16_t load_ma[limblink::kMostChannels];
  uint8_t answer[65535];
  size_t answer_length;
};

bool read_all(void* into, size_t length) { return fread(into, 1, length, stdin) == length; }

uint16_t word(const uint8_t* at) { return static_cast<uint16_t>(at[0] | (at[1] << 8)); }

void put_word(uint8_t* at, size_t value) {
  at[0] = static_cast<uint8_t>(value & 0xFF);
  at[1] = static_cast<uint8_t>((value >> 8) & 0xFF);
}

int run_script(uint8_t channels) {
  static HostHardware hardware;
  static uint8_t head[5 + 4 * limblink::kMostChannels + 2];
  static uint8_t bytes[65535];
  limblink::Board board(hardware, channels, kSerial, kName);
  const size_t head_length = 5 + 4u * channels + 2;
  bool begun = false;
  while (read_all(head, head_length)) {
    const uint32_t now_ms = word(head) | (static_cast<uint32_t>(word(head + 2)) << 16);
    hardware.dac_fails = (head[4] & 1) != 0;
    for (size_t i = 0; i < channels; ++i) {
      hardware.measured_mv[i] = word(head + 5 + 2 * i);
      hardware.load_ma[i] = word(head + 5 + 2 * channels + 2 * i);
    }
    const size_t length = word(head + head_length - 2);
    if (!read_all(bytes, length)) return 1;
    hardware.answer_length = 0;
    if (!begun) board.begin(now_ms);
    begun = true;
    board.step(now_ms);
    for (size_t i = 0; i < length; ++i) board.receive(bytes[i], now_ms);
    uint8_t tail[2 * limblink::kMostChannels + 1];
    uint8_t size[2];
    put_word(size, hardware.answer_length);
    for (size_t i = 0; i < channels; ++i) put_word(tail + 2 * i, hardware.output_mv[i]);
    tail[2u * channels] = hardware.vent ? 1 : 0;
    fwrite(size, 1, 2, stdout);
    fwrite(hardware.answer, 1, hardware.answer_length, stdout);
    fwrite(tail, 1, 2u * channels + 1, stdout);
    fflush(stdout);
  }
  return 0;
}

uint32_t monotonic_ms() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint32_t>(now.tv_sec * 1000 + now.tv_nsec / 1000000);
}

int run_pty(uint8_t channels) {
  static HostHardware hardware;
  const int near = posix_openpt(O_RDWR | O_NOCTTY);
  if (near < 0 || grantpt(near) != 0 || unlockpt(near) != 0) return 1;
  const char* path = ptsname(near);
  const int far = open(path, O_RDWR | O_NOCTTY);  // held, so that a client may come and go
  if (far < 0) return 1;
  termios settings;
  tcgetattr(far, &settings);
  cfmakeraw(&settings);
  tcsetattr(far, TCSANOW, &settings);
  printf("%s\n", path);
  fflush(stdout);

  limblink::Board board(hardware, channels, kSerial, kName);
  uint32_t before_ms = monotonic_ms();
  board.begin(before_ms);
  double lagged_mv[limblink::kMostChannels] = {0.0};
  bool told_open = true;
  pollfd watched[2] = {{near, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
  for (;;) {
    poll(watched, 2, kTickMs);
    if (watched[1].revents != 0) break;
    const uint32_t now_ms = monotonic_ms();
    const double share = (now_ms - before_ms) / (kLagMs + (now_ms - before_ms));
    before_ms = now_ms;
    for (size_t i = 0; i < channels; ++i) {
      lagged_mv[i] += share * (hardware.output_mv[i] - lagged_mv[i]);
      hardware.measured_mv[i] = static_cast<uint16_t>(lagged_mv[i] + 0.5);
    }
    board.step(now_ms);
    if (hardware.vent != told_open) {
      told_open = hardware.vent;
      printf("%u vent %s\n", static_cast<unsigned>(now_ms), told_open ? "open" : "shut");
      fflush(stdout);
    }
    if ((watched[0].revents & POLLIN) == 0) continue;
    uint8_t bytes[512];
    const ssize_t count = read(near, bytes, sizeof(bytes));
    hardware.answer_length = 0;
    for (ssize_t i = 0; i < count; ++i) board.receive(bytes[i], now_ms);
    size_t sent = 0;
    while (sent < hardware.answer_length) {
      const ssize_t now = write(near, hardware.answer + sent, hardware.answer_length - sent);
      if (now <= 0) break;
      sent += static_cast<size_t>(now);
    }
  }
  close(far);
  close(near);
  return 0;
}

}  // namespace

int main(int count, char** words) {
  const int channels = count == 3 ? atoi(words[2]) : 0;
  if (channels >= 1 && channels <= limblink::kMostChannels) {
    const uint8_t n = static_cast<uint8_t>(channels);
    if (strcmp(words[1], "script") == 0) return run_script(n);
    if (strcmp(words[1], "pty") == 0) return run_pty(n);
  }
  fprintf(stderr, "usage: board_host pty|script CHANNELS (1 to 16)\n");
  return 2;
}

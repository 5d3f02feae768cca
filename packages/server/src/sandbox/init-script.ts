import { executing, following, limiting, reading } from './script-parts.ts'
import { type Machine, numbered } from './syscalls.ts'

/**
 * The first process inside, in Perl, which Debian cannot be without: it applies limits, proves what is
 * mounted, starts the program, passes signals on and reports what was used. It is process 1 of its
 * namespace, so that whatever the program started ends with it; and it ends when the channel closes, so
 * that nothing outlives the service.
 *
 * Channel (descriptor 4): first a length and `(N/a*)*` strings: working folder, limits, relay port,
 * number of mounts with target, device and inode each, number of variables with name and value each,
 * program and arguments. Then lines in, `signal <n>` or `kill`; lines out, `started`, `failed <what>
 * <errno>`, or `ended <code> <signal> <cpu ms> <max rss bytes>`.
 */
const script = String.raw`
$$ == 1 or exit 119;
${reading}
# Nothing of the launchers may reach the program: a folder held open outside would be a way out.
opendir(my $open, '/proc/self/fd') or failed('fds');
for (grep { /^\d+$/ && $_ > 2 && $_ != 4 && $_ != fileno $open } readdir $open) { syscall(CLOSE, $_ + 0) }
closedir $open;

if (open(my $score, '>', '/proc/self/oom_score_adj')) { print $score 1000; close $score }
# What runs here is not to hold up the service; and nobody inside looks into this process.
setpriority(0, 0, 5);
syscall(PRCTL, 4, 0, 0, 0, 0);

my %place;
for (1 .. shift @config) {
  my ($target, $dev, $ino) = splice @config, 0, 3;
  $place{$target} = "$dev:$ino";
  my @found = lstat $target or failed('mount');
  if ($found[0] ne $dev || $found[1] ne $ino) { $! = 116; failed('mount') }
}
${limiting}
chdir $folder or failed('chdir');
if ($place{$folder}) {
  my @here = stat '.';
  if ("$here[0]:$here[1]" ne $place{$folder}) { $! = 116; failed('mount') }
}
my $names = shift @config;
my %environment = splice @config, 0, 2 * $names;
RELAY
pipe(my $told, my $tell) or failed('pipe');
my $program = fork;
defined $program or failed('fork');
if (!$program) {
  setpgrp(0, 0);
  $SIG{PIPE} = 'DEFAULT';
${executing}
  syswrite($tell, $errno);
  kill 9, $$;
}
close $tell;
if (sysread($told, my $errno, 16)) { $! = $errno; failed('exec') }
close $told;
open(STDIN, '<', '/dev/null');
open(STDOUT, '>', '/dev/null');
open(STDERR, '>', '/dev/null');
${following}

my $left = '';
while (1) {
  while ((my $ended = waitpid(-1, 1)) > 0) {
    next if $ended != $program;
    my ($code, $signal) = ($? >> 8, $? & 127);
    my $usage = "\0" x 144;
    syscall(GETRUSAGE, -1, $usage);
    my ($us, $uus, $ss, $sus, $rss) = unpack 'qqqqq', $usage;
    my $cpu = int(($us + $ss) * 1000 + ($uus + $sus) / 1000);
    tell_out("ended $code $signal $cpu " . $rss * 1024);
    exit 0;
  }
  my $ready = '';
  vec($ready, fileno $channel, 1) = 1;
  vec($ready, $signal_fd, 1) = 1;
  select($ready, undef, undef, undef) > 0 or next;
  sysread($signals, my $ignored, 4096) if vec($ready, $signal_fd, 1);
  next unless vec($ready, fileno $channel, 1);
  my $got = sysread($channel, $left, 4096, length $left);
  if (!$got) { kill 9, -1; exit 123 }
  while ($left =~ s/^(\w+) ?(\d*)\n//) {
    if ($1 eq 'kill') { kill 9, -1 } else { kill $2 + 0, -$program }
  }
}
`

/**
 * Offers the proxy on the mounted Unix socket as a port of the own, otherwise empty network. One process,
 * no more than 64 KiB held for each direction; what cannot be passed on is not read.
 */
const relay = String.raw`
if ($relay) {
  socket(my $door, 2, 1, 0) or failed('relay');
  setsockopt($door, 1, 2, 1);
  bind($door, pack('S n a4 x8', 2, $relay, "\x7f\0\0\1")) or failed('relay');
  listen($door, 128) or failed('relay');
  my $relaying = fork;
  defined $relaying or failed('fork');
  if (!$relaying) {
    close $channel;
    open(STDIN, '<', '/dev/null');
    open(STDOUT, '>', '/dev/null');
    open(STDERR, '>', '/dev/null');
    my (%other, %held, %ended);
    my %handle = (fileno $door => $door);
    my $drop = sub {
      for my $fd ($_[0], $other{$_[0]}) {
        delete @{$_}{$fd} for \(%held, %ended);
        close delete $handle{$fd};
      }
      delete $other{$other{$_[0]}};
      delete $other{$_[0]};
    };
    while (1) {
      my ($in, $out) = ('', '');
      vec($in, fileno $door, 1) = 1 if keys %other < 256;
      for my $fd (keys %other) {
        vec($in, $fd, 1) = 1 if !$ended{$fd} && $held{$other{$fd}} eq '';
        vec($out, $fd, 1) = 1 if $held{$fd} ne '';
      }
      select($in, $out, undef, undef) > 0 or next;
      for my $fd (grep { vec($out, $_, 1) } keys %other) {
        next unless exists $other{$fd};
        my $sent = syswrite($handle{$fd}, $held{$fd});
        if (defined $sent) { substr($held{$fd}, 0, $sent) = '' }
        elsif ($! != 11) { $drop->($fd); next }
        my $from = $other{$fd};
        shutdown($handle{$fd}, 1) if $held{$fd} eq '' && $ended{$from};
        $drop->($fd) if $held{$fd} eq '' && $held{$from} eq '' && $ended{$fd} && $ended{$from};
      }
      for my $fd (grep { vec($in, $_, 1) } keys %other) {
        next unless exists $other{$fd};
        my $to = $other{$fd};
        my $got = sysread($handle{$fd}, $held{$to}, 65536);
        if ($got) { next }
        if (!defined $got) { $drop->($fd) if $! != 11; next }
        $ended{$fd} = 1;
        shutdown($handle{$to}, 1);
        $drop->($fd) if $ended{$to} && $held{$fd} eq '';
      }
      if (vec($in, fileno $door, 1) && accept(my $near, $door)) {
        socket(my $far, 1, 1, 0) or next;
        connect($far, pack('S a*', 1, "RELAY_SOCKET\0")) or next;
        fcntl($_, 4, 04000) for $near, $far;
        my ($a, $b) = (fileno $near, fileno $far);
        @other{$a, $b} = ($b, $a);
        @held{$a, $b} = ('', '');
        @ended{$a, $b} = (0, 0);
        @handle{$a, $b} = ($near, $far);
      }
    }
  }
}
`

/** Where the socket of the proxy is mounted inside, and the port that leads to it. */
export const relaySocket = '/run/gatehouse/egress'
export const relayPort = 3128

/** `relays`: with the way to the proxy; without, there is less to read at each start. */
export const initScript = (machine: Machine, relays: boolean): string =>
  numbered(
    script.replace('RELAY', () => (relays ? relay.replace('RELAY_SOCKET', relaySocket) : '')),
    machine,
  )

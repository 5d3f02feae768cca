// What the launchers have in common, in Perl. Calls are named in capitals; see numbered() in syscalls.ts.

/** Where a program named without a slash is looked for. */
export const searched = ['/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin'] as const

/** Takes the order from the channel, and says over it what became of it. */
export const reading = String.raw`
open(my $channel, '+<&=', 4) or exit 120;
fcntl($channel, 2, 1);
$SIG{PIPE} = 'IGNORE';
sub tell_out { my $line = "$_[0]\n"; syswrite($channel, $line) }
sub failed { tell_out("failed $_[0] " . ($! + 0)); exit 121 }
sub take {
  my ($n, $got) = ($_[0], '');
  while (length $got < $n) { sysread($channel, $got, $n - length $got, length $got) or exit 122 }
  return $got;
}
my @config = unpack('(N/a*)*', take(unpack 'N', take(4)));
my ($folder, $limits, $relay) = splice @config, 0, 3;`

/** Never above what the service itself may. */
export const limiting = String.raw`
for (split /,/, $limits) {
  my ($which, $value) = split /=/;
  my $now = pack 'QQ', 0, 0;
  syscall(PRLIMIT64, 0, $which + 0, 0, $now) == 0 or failed('limits');
  my ($soft, $hard) = unpack 'QQ', $now;
  $value = $hard if $value > $hard;
  my $next = pack 'QQ', $value, $value;
  syscall(PRLIMIT64, 0, $which + 0, $next, 0) == 0 or failed('limits');
}`

/** Starts the program, or leaves the errno why it cannot be. */
export const executing = String.raw`
  my @variables = map { "$_=$environment{$_}" } keys %environment;
  my ($words, $names) = (pack('p*', @config, undef), pack('p*', @variables, undef));
  # By number, since exec would have a shell read what the kernel cannot run.
  my $errno = 2;
  my @places = $config[0] =~ m{/} ? ($config[0]) : map { "$_/$config[0]" } qw(${searched.join(' ')});
  for my $place (@places) {
    next unless -f $place && -x _ || $place eq $config[0];
    syscall(EXECVE, $place, $words, $names);
    $errno = $! + 0;
    last;
  }`

/** Hears of children that end through a descriptor, and says that the program runs. */
export const following = String.raw`
my $child_bit = pack 'Q', 1 << 16;
syscall(RT_SIGPROCMASK, 0, $child_bit, 0, 8);
my $signal_fd = syscall(SIGNALFD4, -1, $child_bit, 8, 02004000);
$signal_fd >= 0 or failed('signalfd');
open(my $signals, '<&=', $signal_fd) or failed('signalfd');
tell_out('started');`

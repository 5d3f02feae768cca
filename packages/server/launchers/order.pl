# The order of the service, which the launcher of a program takes over the channel, and what is said back
# over it.
#
# First strings: working folder, limits, port and socket of the egress relay, number of
# folders that programs are looked for in and the folders, number of mounts with target, device and inode
# each, number of variables with name and value each, program and arguments. Then lines in, `signal <n>` or `kill`; lines
# out, `started`, `failed <what> <errno>`, or `ended <code> <signal> <cpu ms> <max rss bytes>`.

my @order;

sub tell_out { my $line = "$_[0]\n"; syswrite($channel, $line) }

sub failed { tell_out("failed $_[0] " . ($! + 0)); exit 121 }

sub take_order {
  @order = take_strings();
  fcntl($channel, 2, 1);
  $SIG{PIPE} = 'IGNORE';
}

# Never above what the service itself may.
sub set_limits {
  my @limits = split /[=,]/, $_[0];
  while (my ($which, $value) = splice @limits, 0, 2) {
    my $now = pack 'QQ', 0, 0;
    syscall($SYS_prlimit64, 0, $which + 0, 0, $now) == 0 or failed('limits');
    my ($soft, $hard) = unpack 'QQ', $now;
    $value = $hard if $value > $hard;
    my $next = pack 'QQ', $value, $value;
    syscall($SYS_prlimit64, 0, $which + 0, $next, 0) == 0 or failed('limits');
  }
}

# Becomes the program, or returns the errno why it cannot.
sub execute {
  my ($searched, $environment, @words) = @_;
  my @variables = map { "$_=$environment->{$_}" } keys %$environment;
  my ($arguments, $names) = (pack('p*', @words, undef), pack('p*', @variables, undef));
  # By number, since exec would have a shell read what the kernel cannot run.
  my $errno = 2;
  my @places = index($words[0], '/') >= 0 ? ($words[0]) : map { "$_/$words[0]" } @$searched;
  for my $place (@places) {
    next unless -f $place && -x _ || $place eq $words[0];
    syscall($SYS_execve, $place, $arguments, $names);
    $errno = $! + 0;
    last;
  }
  return $errno;
}

sub silence {
  open(STDIN, '<', '/dev/null');
  open(STDOUT, '>', '/dev/null');
  open(STDERR, '>', '/dev/null');
}

# A handle that can be read when a child has ended. Says that the program runs.
sub follow_children {
  my $child_bit = pack 'Q', 1 << 16;
  syscall($SYS_rt_sigprocmask, 0, $child_bit, 0, 8);
  my $signal_fd = syscall($SYS_signalfd4, -1, $child_bit, 8, 02004000);
  $signal_fd >= 0 or failed('signalfd');
  open(my $signals, '<&=', $signal_fd) or failed('signalfd');
  tell_out('started');
  return $signals;
}

# What all that ended has used: `<cpu ms> <max rss bytes>`.
sub used {
  my $usage = "\0" x 144;
  syscall($SYS_getrusage, -1, $usage);
  my ($us, $uus, $ss, $sus, $rss) = unpack 'qqqqq', $usage;
  return int(($us + $ss) * 1000 + ($uus + $sus) / 1000) . ' ' . $rss * 1024;
}

# The first process in bubblewrap: it applies limits, proves what is mounted, starts the program, passes
# signals on and reports what was used. It is process 1 of its namespace, so that whatever the program
# started ends with it; and it ends when the channel closes, so that nothing outlives the service.
# Perl is what Debian cannot be without. See channel.pl and order.pl for what it is told.

$$ == 1 or exit 119;
take_order();
my ($folder, $limits, $relay_port, $relay_socket) = splice @order, 0, 4;
my @searched = splice @order, 0, shift @order;
# Nothing of the launchers may reach the program: a folder held open outside would be a way out.
opendir(my $open, '/proc/self/fd') or failed('fds');
for (grep { $_ > 2 && $_ != 4 && $_ != fileno $open } readdir $open) { syscall($SYS_close, $_ + 0) }
closedir $open;

if (open(my $score, '>', '/proc/self/oom_score_adj')) { print $score 1000; close $score }
# What runs here is not to hold up the service; and nobody inside looks into this process.
setpriority(0, 0, 5);
syscall($SYS_prctl, 4, 0, 0, 0, 0);

my %place;
for (1 .. shift @order) {
  my ($target, $dev, $ino) = splice @order, 0, 3;
  $place{$target} = "$dev:$ino";
  my @found = lstat $target or failed('mount');
  if ($found[0] ne $dev || $found[1] ne $ino) { $! = 116; failed('mount') }
}
set_limits($limits);
chdir $folder or failed('chdir');
if ($place{$folder}) {
  my @here = stat '.';
  if ("$here[0]:$here[1]" ne $place{$folder}) { $! = 116; failed('mount') }
}
my $names = shift @order;
my %environment = splice @order, 0, 2 * $names;
relay($relay_port, $relay_socket) if $relay_port;
pipe(my $told, my $tell) or failed('pipe');
my $program = fork;
defined $program or failed('fork');
if (!$program) {
  setpgrp(0, 0);
  $SIG{PIPE} = 'DEFAULT';
  my $errno = execute(\@searched, \%environment, @order);
  syswrite($tell, $errno);
  kill 9, $$;
}
close $tell;
if (sysread($told, my $errno, 16)) { $! = $errno; failed('exec') }
close $told;
silence();
my $signals = follow_children();

my $left = '';
while (1) {
  while ((my $ended = waitpid(-1, 1)) > 0) {
    next if $ended != $program;
    my ($code, $signal) = ($? >> 8, $? & 127);
    tell_out("ended $code $signal " . used());
    # At once: Perl would first free all that it holds.
    syscall($SYS_exit_group, 0);
  }
  my $ready = '';
  vec($ready, $_, 1) = 1 for fileno $channel, fileno $signals;
  select($ready, undef, undef, undef) > 0 or next;
  sysread($signals, my $ignored, 4096) if vec($ready, fileno $signals, 1);
  next unless vec($ready, fileno $channel, 1);
  my $got = sysread($channel, $left, 4096, length $left);
  if (!$got) { kill 9, -1; exit 123 }
  while ($left =~ s/^(\w+) ?(\d*)\n//) {
    if ($1 eq 'kill') { kill 9, -1 } else { kill $2 + 0, -$program }
  }
}

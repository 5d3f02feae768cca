# The launchers where there are no namespaces. The guard becomes the service user for good, gives up every
# right that could be gained again, and starts the watcher, which starts the program. Each of the three is in
# a Landlock domain of its own, the next inside the last, out of which no signal goes. So the program reaches
# neither launcher, and "kill everything" (-1) of a launcher ends all in its domain at once, whatever session
# or group it fled to, and nothing else of the user's. Whichever launcher goes first, the other one does
# that; and so does the watcher when the channel to the service closes. See order.pl for the channel, and
# supervisor.pl for modes of files.
#
# Arguments: version of Landlock that is needed; uid and gid, or two dashes; paths, ports and scopes of the
# ruleset; number of mounts with the rights of each; then path and rights of each other rule. Descriptors:
# 3 the filter, 4 the channel, 5 this text, 6 and on the mounts.
# @SECURITY Without a domain around the launcher, -1 would reach the service: nothing is started then;
# load-launcher.test.ts.

my ($needed, $uid, $gid, $paths, $ports, $scoped, $count) = splice @ARGV, 0, 7;
my @rights = splice @ARGV, 0, $count;
sub broken { print STDERR "gatehouse: $_[0]: $!\n"; exit 125 }
my $abi = syscall($SYS_landlock_create_ruleset, 0, 0, 1);
if ($abi < $needed) {
  print STDERR 'gatehouse: landlock ', ($abi >= 0 ? $abi : $! == 95 ? 'off' : $! == 38 ? 'none' : "refused: $!"), "\n";
  exit 125;
}
if ($uid ne '-') {
  syscall($SYS_setgroups, 0, 0) == 0 or broken('setgroups');
  syscall($SYS_setresgid, $gid + 0, $gid + 0, $gid + 0) == 0 or broken('setresgid');
  syscall($SYS_setresuid, $uid + 0, $uid + 0, $uid + 0) == 0 or broken('setresuid');
  if (syscall($SYS_setresuid, 0, 0, 0) == 0) { $! = 1; broken('the rights of root stayed') }
}
syscall($SYS_prctl, 47, 4, 0, 0, 0) == 0 or broken('ambient capabilities');
my ($header, $empty) = (pack('LL', 0x20080522, 0), "\0" x 24);
syscall($SYS_capset, $header, $empty) == 0 or broken('capabilities');
syscall($SYS_prctl, 38, 1, 0, 0, 0) == 0 or broken('no_new_privs');
sub confine {
  my ($rules, @handled) = @_;
  my $attributes = pack 'QQQ', @handled;
  my $ruleset = syscall($SYS_landlock_create_ruleset, $attributes, 24, 0);
  $ruleset >= 0 or broken('ruleset');
  $rules->($ruleset);
  syscall($SYS_landlock_restrict_self, $ruleset, 0) == 0 or broken('restrict');
  syscall($SYS_close, $ruleset);
}
# All that runs in this domain, at once, and without a trace.
sub finish {
  kill 9, -1;
  1 while waitpid(-1, 0) > 0;
}
# What loses its parent becomes a child of the nearest launcher.
syscall($SYS_prctl, 36, 1, 0, 0, 0) == 0 or broken('subreaper');
confine(sub {}, 0, 0, 2);
# Both ends of each are held by one of them alone, so that either hears when the other is gone.
pipe(my $guarded, my $guarding) or broken('pipe');
my $watcher = fork;
defined $watcher or broken('fork');
if ($watcher) {
  close $guarded;
  syscall($SYS_close, $_) for 3 .. 5 + $count;
  silence();
  $SIG{HUP} = sub { finish(); exit 124 };
  syscall($SYS_prctl, 1, 1, 0, 0, 0);
  while (1) {
    my $gone = waitpid(-1, 0);
    last if $gone == $watcher || $gone < 0 && $! == 10;
  }
  my $how = $?;
  finish();
  exit($how & 127 ? 128 + ($how & 127) : $how >> 8);
}
close $guarding;
setpgrp(0, 0);
syscall($SYS_prctl, 36, 1, 0, 0, 0) == 0 or broken('subreaper');
confine(sub {}, 0, 0, 2);
take_order();
my ($folder, $limits) = splice @order, 0, 4;
my @searched = splice @order, 0, shift @order;
open(my $source, '<&=', 3) or failed('filter');
binmode $source;
my $filter = do { local $/; <$source> };
length $filter or failed('filter');
shift @order;
my $names = shift @order;
my %environment = splice @order, 0, 2 * $names;
my $allow = sub {
  my ($ruleset, @rule) = @_;
  my $rule = pack 'Ql', @rule;
  syscall($SYS_landlock_add_rule, $ruleset, 1, $rule, 0) == 0 or failed('rule');
};
# All that was given, and no descriptor but those to keep: a folder held open outside would be a way out.
my $given = sub {
  my ($ruleset, @keep) = @_;
  for my $at (0 .. ($paths ? $#rights : -1)) { $allow->($ruleset, $rights[$at], 6 + $at) }
  while (my ($path, $access) = splice @ARGV, 0, 2) {
    $paths && sysopen(my $place, $path, 010000000) or next;
    $allow->($ruleset, $access & (-d $place ? -1 : ~8), fileno $place);
  }
  opendir(my $open, '/proc/self/fd') or failed('fds');
  my %kept = map { $_ => 1 } 0 .. 2, $ruleset, map { fileno $_ } @keep;
  for (grep { /^\d+$/ && !$kept{$_} && $_ != fileno $open } readdir $open) { syscall($SYS_close, $_ + 0) }
  closedir $open;
};
# Modes are changed by path in the place of the program, by one that reaches just the same files: Landlock
# knows no rule for modes, but a file that cannot be opened cannot be changed by its descriptor either.
start_supervisor(sub { my @kept = @_; confine(sub { $given->($_[0], @kept) }, $paths, $ports, $scoped) });
# Processes are counted for the user, with those that run already.
my ($user, $mine) = ($<, 0);
for my $file (glob '/proc/[0-9]*/status') {
  open(my $status, '<', $file) or next;
  my $text = do { local $/; <$status> } // '';
  $mine += $1 if $text =~ /^Uid:\s+$user\s/m && $text =~ /^Threads:\s+(\d+)/m;
}
$limits =~ s/\b6=(\d+)/'6=' . ($1 - 1 + $mine)/e;
pipe(my $told, my $tell) or failed('pipe');
pipe(my $go, my $gone) or failed('pipe');
my $parent = $$;
my $program = fork;
defined $program or failed('fork');
if (!$program) {
  close $told;
  close $gone;
  { no warnings; *failed = *broken = sub { my $line = "$_[0] " . ($! + 0); syswrite($tell, $line); kill 9, $$ } }
  setpgrp(0, 0);
  syscall($SYS_prctl, 1, 9, 0, 0, 0);
  getppid() == $parent or failed('parent');
  $SIG{PIPE} = 'DEFAULT';
  syscall($SYS_prctl, 4, 1, 0, 0, 0);
  if (open(my $score, '>', '/proc/self/oom_score_adj')) { print $score 1000; close $score }
  setpriority(0, 0, 5);
  set_limits($limits);
  chdir $folder or failed('chdir');
  confine(sub { $given->($_[0], $tell, $go) }, $paths, $ports, $scoped);
  my $program = pack 'S x6 P', length($filter) / 8, $filter;
  my $listener = syscall($SYS_seccomp, 1, 8, $program);
  $listener >= 0 or failed('filter');
  my $taken = "listener $listener";
  syswrite($tell, $taken);
  sysread($go, $taken, 1) or failed('listener');
  my $errno = execute(\@searched, \%environment, @order);
  my $line = "exec $errno";
  syswrite($tell, $line);
  kill 9, $$;
}
close $tell;
syscall($SYS_close, $_) for 3, 5 .. 5 + $count;
close $go;
my $listener;
while (sysread($told, my $said, 64)) {
  (my $what, my $number) = split / /, $said;
  if ($what ne 'listener') { $! = $number; failed($what) }
  my $held = syscall($SYS_pidfd_open, $program, 0);
  $listener = syscall($SYS_pidfd_getfd, $held, $number + 0, 0);
  $listener >= 0 or failed('listener');
  syscall($SYS_close, $held);
  syswrite($gone, 'x');
}
close $told;
close $gone;
silence();
my $signals = follow_children();

my $left = '';
while (1) {
  while ((my $ended = waitpid(-1, 1)) > 0) {
    next if $ended != $program;
    my ($code, $signal) = ($? >> 8, $? & 127);
    my $used = used();
    finish();
    tell_out("ended $code $signal $used");
    # At once: Perl would first free all that it holds.
    syscall($SYS_exit_group, 0);
  }
  my $ready = '';
  vec($ready, $_, 1) = 1 for fileno $channel, fileno $signals, fileno $guarded, $listener;
  select($ready, undef, undef, undef) > 0 or next;
  if (vec($ready, fileno $guarded, 1)) { finish(); exit 123 }
  change_mode($listener) if vec($ready, $listener, 1);
  sysread($signals, my $ignored, 4096) if vec($ready, fileno $signals, 1);
  next unless vec($ready, fileno $channel, 1);
  my $got = sysread($channel, $left, 4096, length $left);
  if (!$got) { finish(); exit 123 }
  while ($left =~ s/^(\w+) ?(\d*)\n//) {
    if ($1 eq 'kill') { kill 9, -1 } else { kill $2 + 0, -$program }
  }
}

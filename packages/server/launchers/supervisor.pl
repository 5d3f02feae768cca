# The seccomp supervisor of programs in Landlock: `change_mode` takes one call of the program that the filter
# held back, chmod or fchmodat, and answers it with what came of it. The watcher reads what was asked for; a
# process that is confined by the same rules as the program opens the file and changes it.
# @SECURITY Whatever path stands there when it is opened, it is one that the program could open itself;
# sandbox-landlock.test.ts.

my ($asking, $answered);

sub take_from {
  my ($from, $n, $got) = (@_, '');
  while (length $got < $n) { sysread($from, $got, $n - length $got, length $got) or return }
  return $got;
}

# `confine` is given the handles to keep.
sub start_supervisor {
  my ($confine) = @_;
  pipe(my $asked, $asking) or failed('pipe');
  pipe($answered, my $answering) or failed('pipe');
  my $changer = fork;
  defined $changer or failed('fork');
  if (!$changer) {
    syscall($SYS_prctl, 1, 9, 0, 0, 0);
    silence();
    chdir '/';
    $confine->($asked, $answering);
    while (defined(my $size = take_from($asked, 4))) {
      my ($mode, $path) = unpack 'Na*', take_from($asked, unpack 'N', $size);
      # Neither waits for the other end of a pipe, nor takes a terminal.
      my $file;
      my $errno = sysopen($file, $path, 04400) && chmod($mode, $file) ? 0 : $! + 0;
      syswrite($answering, pack 'N', $errno);
    }
    exit 0;
  }
  close $_ for $asked, $answering;
}

sub text_at {
  my ($pid, $at) = @_;
  my $text = '';
  while (length $text < 4096) {
    my $n = 4096 - $at % 4096;
    my $page = "\0" x $n;
    my ($here, $there) = (pack('PQ', $page, $n), pack('QQ', $at, $n));
    syscall($SYS_process_vm_readv, $pid, $here, 1, $there, 1, 0) == $n or return;
    my $end = index $page, "\0";
    return $text . substr $page, 0, $end if $end >= 0;
    $text .= $page;
    $at += $n;
  }
  return;
}

sub mode_errno {
  my ($pid, $folder, $at, $mode) = @_;
  return 1 if $mode & 06000;
  my $path = text_at($pid, $at);
  return 14 if !defined $path;
  return 2 if $path eq '';
  if ($path !~ m{^/}) {
    my $number = unpack 'l', pack 'L', $folder & 0xffffffff;
    my $base = readlink($number == -100 ? "/proc/$pid/cwd" : "/proc/$pid/fd/$number");
    return 9 if !defined $base;
    $path = "$base/$path";
  }
  # Of the program and not of who changes it, which therefore does not reach it.
  $path =~ s{^/proc/(?:thread-)?self(?=/|$)}{/proc/$pid};
  syswrite($asking, pack 'N/a*', pack 'Na*', $mode & 01777, $path);
  my $errno = take_from($answered, 4);
  return defined $errno ? unpack 'N', $errno : 1;
}

sub change_mode {
  my $call = "\0" x 80;
  syscall($SYS_ioctl, $_[0], 0xc0502100, $call) == 0 or return;
  my ($id, $pid, undef, $nr, undef, undef, @given) = unpack 'QLLlLQQ6', $call;
  my $errno = mode_errno($pid, $nr == $SYS_fchmodat ? @given[0 .. 2] : (0xffffff9c, @given[0, 1]));
  my $answer = pack 'QqlL', $id, 0, -$errno, 0;
  syscall($SYS_ioctl, $_[0], 0xc0182101, $answer);
}

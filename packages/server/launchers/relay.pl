# The egress relay: offers the proxy on the mounted Unix socket as a port of the sandbox's own, otherwise
# empty network. One process, no more than 64 KiB held for each direction; what cannot be passed on is not
# read.

sub relay {
  my ($port, $proxy) = @_;
  socket(my $listener, 2, 1, 0) or failed('relay');
  setsockopt($listener, 1, 2, 1);
  bind($listener, pack('S n a4 x8', 2, $port, "\x7f\0\0\1")) or failed('relay');
  listen($listener, 128) or failed('relay');
  my $relaying = fork;
  defined $relaying or failed('fork');
  if (!$relaying) {
    close $channel;
    silence();
    my (%other, %held, %ended);
    my %handle = (fileno $listener => $listener);
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
      vec($in, fileno $listener, 1) = 1 if keys %other < 256;
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
      if (vec($in, fileno $listener, 1) && accept(my $near, $listener)) {
        socket(my $far, 1, 1, 0) or next;
        connect($far, pack('S a*', 1, "$proxy\0")) or next;
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

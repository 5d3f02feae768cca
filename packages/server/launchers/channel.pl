# The channel to the service, descriptor 4, over which a launcher takes what it is to do: a length and
# `(N/a*)*` strings. It ends when the service does.

my $channel;

sub take {
  my ($n, $got) = ($_[0], '');
  while (length $got < $n) { sysread($channel, $got, $n - length $got, length $got) or exit 122 }
  return $got;
}

sub take_strings {
  open($channel, '+<&=', 4) or exit 120;
  return unpack('(N/a*)*', take(unpack 'N', take(4)));
}

# Root launcher, before bubblewrap where the service is root: takes each mount by its open descriptor into a mount
# namespace of its own, below a folder that everybody may enter, becomes the service user for good, and only
# then starts bubblewrap. So no path is walked twice, the private folders above a workspace stay private,
# and nothing untrusted ever runs with the rights of root.
#
# It may be started before there is a program to run. Until its order comes over the channel it has nothing
# of any agent, and does nothing.
#
# Order: the folder, which is mounted over for this process alone; uid, gid, number of mounts, the
# descriptors of them in /proc, which the service holds open meanwhile, then the command.

my ($folder, $uid, $gid, $count, @command) = take_strings();
# For the launcher in bubblewrap, which takes its own order over it.
fcntl($channel, 2, 0);
my @given = splice @command, 0, $count;
my ($none, $root, $tmpfs) = ('none', '/', 'tmpfs');
my ($empty, $options) = ('', 'mode=0755,size=1m');
sub failed { print STDERR "gatehouse: $_[0]: $!\n"; exit 125 }
my @trees = map {
  my $tree = syscall($SYS_open_tree, -100, $_, 02000000 | 1);
  $tree >= 0 or failed('open_tree');
  $tree
} @given;
syscall($SYS_unshare, 0x20000) == 0 or failed('unshare');
syscall($SYS_mount, $none, $root, $none, 0x44000, 0) == 0 or failed('making mounts private');
syscall($SYS_mount, $tmpfs, $folder, $tmpfs, 6, $options) == 0 or failed('mounting the folder');
for my $at (0 .. $#trees) {
  my $place = "$folder/$at";
  if (-d $given[$at]) { mkdir $place, 0755 or failed('mkdir') }
  else { open(my $made, '>', $place) or failed('create'); close $made }
  syscall($SYS_move_mount, $trees[$at], $empty, -100, $place, 4) == 0 or failed($! == 2 ? "gone $at" : 'move_mount');
}
syscall($SYS_close, $_ + 0) for @trees;
chdir '/' or failed('chdir');
syscall($SYS_setgroups, 0, 0) == 0 or failed('setgroups');
syscall($SYS_setresgid, $gid + 0, $gid + 0, $gid + 0) == 0 or failed('setresgid');
syscall($SYS_setresuid, $uid + 0, $uid + 0, $uid + 0) == 0 or failed('setresuid');
if (syscall($SYS_setresuid, 0, 0, 0) == 0) { $! = 1; failed('the rights of root stayed') }
exec { $command[0] } @command or failed($command[0]);

# Run before bubblewrap where the service is root: takes each mount by its open descriptor into a mount
# namespace of its own, below a folder that everybody may enter, becomes the service user for good, and only
# then starts bubblewrap. So no path is walked twice, the private folders above a workspace stay private,
# and nothing untrusted ever runs with the rights of root.
#
# Arguments: the folder, which is mounted over for this process alone; uid, gid, number of mounts,
# descriptors of them, then the command.

my ($stage, $uid, $gid, $count) = splice @ARGV, 0, 4;
my @given = splice @ARGV, 0, $count;
my ($none, $root, $tmpfs) = ('none', '/', 'tmpfs');
my ($empty, $options) = ('', 'mode=0755,size=1m');
sub failed { print STDERR "gatehouse: $_[0]: $!\n"; exit 125 }
my @trees = map {
  my $tree = syscall($SYS_open_tree, $_ + 0, $empty, 0x1000 | 02000000 | 1);
  $tree >= 0 or failed('open_tree');
  $tree
} @given;
syscall($SYS_unshare, 0x20000) == 0 or failed('unshare');
syscall($SYS_mount, $none, $root, $none, 0x44000, 0) == 0 or failed('making mounts private');
syscall($SYS_mount, $tmpfs, $stage, $tmpfs, 6, $options) == 0 or failed('mounting the stage');
for my $at (0 .. $#trees) {
  my $place = "$stage/$at";
  if (-d "/proc/self/fd/$given[$at]") { mkdir $place, 0755 or failed('mkdir') }
  else { open(my $made, '>', $place) or failed('create'); close $made }
  syscall($SYS_move_mount, $trees[$at], $empty, -100, $place, 4) == 0 or failed($! == 2 ? "gone $at" : 'move_mount');
}
syscall($SYS_close, $_ + 0) for @given, @trees;
chdir '/' or failed('chdir');
syscall($SYS_setgroups, 0, 0) == 0 or failed('setgroups');
syscall($SYS_setresgid, $gid + 0, $gid + 0, $gid + 0) == 0 or failed('setresgid');
syscall($SYS_setresuid, $uid + 0, $uid + 0, $uid + 0) == 0 or failed('setresuid');
if (syscall($SYS_setresuid, 0, 0, 0) == 0) { $! = 1; failed('the rights of root stayed') }
exec { $ARGV[0] } @ARGV or failed($ARGV[0]);

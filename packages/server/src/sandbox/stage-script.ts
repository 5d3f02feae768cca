import { type Machine, numbered } from './syscalls.ts'

/**
 * Run first where the service is root: takes each mount by its open descriptor into a mount namespace of
 * its own, below a folder that everybody may enter, becomes the service user for good, and only then
 * starts bubblewrap. So no path is walked twice, the private folders above a workspace stay private, and
 * nothing untrusted ever runs with the rights of root.
 *
 * Arguments: uid, gid, number of mounts, descriptors of them, then the command.
 */
const script = String.raw`
my ($uid, $gid, $count) = splice @ARGV, 0, 3;
my @given = splice @ARGV, 0, $count;
my ($none, $root, $stage, $tmpfs) = ('none', '/', 'STAGE', 'tmpfs');
my ($empty, $options) = ('', 'mode=0755,size=1m');
sub failed { print STDERR "gatehouse: $_[0]: $!\n"; exit 125 }
my @trees = map {
  my $tree = syscall(OPEN_TREE, $_ + 0, $empty, 0x1000 | 02000000 | 1);
  $tree >= 0 or failed('open_tree');
  $tree
} @given;
syscall(UNSHARE, 0x20000) == 0 or failed('unshare');
syscall(MOUNT, $none, $root, $none, 0x44000, 0) == 0 or failed('making mounts private');
syscall(MOUNT, $tmpfs, $stage, $tmpfs, 6, $options) == 0 or failed('mounting the stage');
for my $at (0 .. $#trees) {
  my $place = "$stage/$at";
  if (-d "/proc/self/fd/$given[$at]") { mkdir $place, 0755 or failed('mkdir') }
  else { open(my $made, '>', $place) or failed('create'); close $made }
  syscall(MOVE_MOUNT, $trees[$at], $empty, -100, $place, 4) == 0 or failed($! == 2 ? "gone $at" : 'move_mount');
}
syscall(CLOSE, $_ + 0) for @given, @trees;
chdir '/' or failed('chdir');
syscall(SETGROUPS, 0, 0) == 0 or failed('setgroups');
syscall(SETRESGID, $gid + 0, $gid + 0, $gid + 0) == 0 or failed('setresgid');
syscall(SETRESUID, $uid + 0, $uid + 0, $uid + 0) == 0 or failed('setresuid');
if (syscall(SETRESUID, 0, 0, 0) == 0) { $! = 1; failed('the rights of root stayed') }
exec { $ARGV[0] } @ARGV;
failed("$ARGV[0]");
`

/** Mounted over for the launcher alone. */
export const stageFolder = '/tmp'

export const stageScript = (machine: Machine): string =>
  numbered(script.replace('STAGE', stageFolder), machine)

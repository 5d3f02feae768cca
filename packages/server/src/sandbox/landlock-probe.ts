import type { SandboxResult, SandboxSpec } from '../ports/sandbox.ts'
import { judge, probeSpec } from './probe.ts'
import { type Machine, numbered } from './syscalls.ts'

/** Says how it finds itself, by trying: what the kernel would tell it is out of its reach. */
const script = String.raw`
my ($header, $rights) = (pack('LL', 0x20080522, 0), "\0" x 24);
syscall(CAPGET, $header, $rights) == 0 or die "capabilities: $!";
my @effective = (unpack 'L6', $rights)[0, 3];
print join(' ', syscall(PRCTL, 39, 0, 0, 0, 0), syscall(PRCTL, 21, 0, 0, 0, 0), @effective), "\n";
my @open = grep { my $there = $_; opendir(my $folder, $there) || open(my $file, '<', $there) } '/', '/proc/self/status';
print "sees @open\n";
print 'reaches ', join(' ', grep { my $s; socket($s, $_, 1, 0) || socket($s, $_, 2, 0) } 1, 2, 10, 16), "\n";
print kill(0, getppid) ? "signals\n" : "no signals\n";
print open(my $made, '>', "$ENV{HOME}/probe") ? "writes\n" : "cannot write: $!\n";
`

/** The smallest program that tells whether all of it holds. */
export const landlockProbeSpec = (perl: string, machine: Machine): SandboxSpec => ({
  ...probeSpec(perl),
  args: ['-e', numbered(script, machine)],
  working_directory: '/usr',
})

const expected = ['1 2 0 0', 'sees ', 'reaches ', 'no signals', 'writes']
const meanings = [
  'rights are left or the filter is not in force',
  'files of the host are seen',
  'sockets can be made',
  'processes of the host are reached',
  'its own folder is not reached',
]

/** Null where everything holds; else what does not. */
export const judgeLandlock = (
  result: Pick<SandboxResult, 'code' | 'stdout' | 'stderr'>,
): string | null => judge(result, expected, meanings)

import type { SandboxResult, SandboxSpec } from '../ports/sandbox.ts'

/** Says how it finds itself, by what the kernel tells it. */
const script = String.raw`
open(my $status, '<', '/proc/self/status') or die "status: $!";
my %found = map { /^(\w+):\s+(.*)$/ ? ($1 => $2) : () } <$status>;
print join(' ', $found{NoNewPrivs}, $found{Seccomp}, hex $found{CapEff}, hex $found{CapBnd}), "\n";
my @seen = grep { /^\d+$/ } map { s{.*/}{}r } glob '/proc/*';
print scalar(@seen), "\n";
open(my $network, '<', '/proc/net/dev') or die "network: $!";
print join(' ', sort map { /^\s*(\w+):/ ? $1 : () } <$network>), "\n";
print open(my $made, '>', '/probe') ? "writable\n" : "read-only\n";
`

/** The smallest program that tells whether all of it holds. */
export const probeSpec = (perl: string): SandboxSpec => ({
  program: perl,
  args: ['-e', script],
  environment: {},
  working_directory: '/tmp',
  mounts: [],
  network: { kind: 'none' },
  limits: {
    memory_bytes: 256 * 1024 * 1024,
    processes: 16,
    cpu_seconds: 5,
    file_bytes: 1024 * 1024,
    temporary_bytes: 1024 * 1024,
  },
})

const expected = ['1 2 0 0', '2', 'lo', 'read-only']
const meanings = [
  'rights are left or the filter is not in force',
  'processes of the host are seen',
  'interfaces of the host are seen',
  'its root can be written',
]

/** Null where a probe said what was expected, line by line; else what the first other line means. */
export const judge = (
  result: Pick<SandboxResult, 'code' | 'stdout' | 'stderr'>,
  wanted: readonly string[],
  means: readonly string[],
): string | null => {
  const decoder = new TextDecoder()
  if (result.code !== 0)
    return decoder.decode(result.stderr).trim() || `it ended with ${result.code}`
  const lines = decoder.decode(result.stdout).split('\n')
  const at = wanted.findIndex((line, i) => lines[i] !== line)
  return at < 0 ? null : `${means[at]} (${lines[at]})`
}

/** Null where everything holds; else what does not. */
export const judgeProbe = (
  result: Pick<SandboxResult, 'code' | 'stdout' | 'stderr'>,
): string | null => judge(result, expected, meanings)

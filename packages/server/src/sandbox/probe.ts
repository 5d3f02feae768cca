import type { SandboxResult, SandboxSpec } from '../ports/sandbox.ts'
import { loadLauncher } from './load-launcher.ts'
import type { Machine } from './syscalls.ts'

/** How long a try, and the start of any program, may take. Long: a slow moment must not pass for a sandbox that does not hold. */
export const probeMs = 30_000

/** The smallest program that tells whether all of it holds. */
export const probeSpec = (perl: string, machine: Machine): SandboxSpec => ({
  program: perl,
  args: ['-e', loadLauncher('probe', machine)],
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
  'rights are left or the filter is not active',
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

import type { SandboxResult, SandboxSpec } from '../ports/sandbox.ts'
import { loadLauncher } from './load-launcher.ts'
import { judge, probeSpec } from './probe.ts'
import type { Machine } from './syscalls.ts'

/** The smallest program that tells whether all of it holds. */
export const landlockProbeSpec = (perl: string, machine: Machine): SandboxSpec => ({
  ...probeSpec(perl, machine),
  args: ['-e', loadLauncher('landlock-probe', machine)],
  working_directory: '/usr',
})

const expected = ['1 2 0 0', 'sees ', 'reaches ', 'no signals', 'writes']
const meanings = [
  'rights are left or the filter is not active',
  'files of the host are seen',
  'sockets can be made',
  'processes of the host are reached',
  'its own folder is not reached',
]

/** Null where everything holds; else what does not. */
export const judgeLandlock = (
  result: Pick<SandboxResult, 'code' | 'stdout' | 'stderr'>,
): string | null => judge(result, expected, meanings)

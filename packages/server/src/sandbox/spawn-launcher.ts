import { type ChildProcess, spawn } from 'node:child_process'

/**
 * Starts a launcher. 0 to 2 are the pipes of what it runs, 3 is the filter, 4 the channel, 5 and what
 * follows the descriptors it is handed.
 */
export const spawnLauncher = (
  program: string,
  args: readonly string[],
  handed: { readonly filter: number; readonly behind: readonly number[] },
): ChildProcess =>
  spawn(program, args, {
    cwd: '/',
    // @SECURITY The service's own environment stays away from everything that runs; spawn-launcher.test.ts.
    env: {},
    shell: false,
    detached: true,
    stdio: [...(['pipe', 'pipe', 'pipe'] as const), handed.filter, 'pipe', ...handed.behind],
  })

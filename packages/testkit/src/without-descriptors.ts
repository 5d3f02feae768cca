import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { hasProgram } from './programs.ts'

/** Whether the limit of a running process can be moved here. */
export const canLimitDescriptors = process.platform === 'linux' && hasProgram('prlimit')

/** Works while this process gets no descriptor any more (EMFILE), and has what it had again after it. */
export const withoutDescriptors = async <T>(work: () => Promise<T>): Promise<T> => {
  const soft = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
  const limit = (to: string | undefined) => `prlimit --pid ${process.pid} --nofile=${to}:`
  const keeper = spawn('sh', ['-c', `${limit('3')} && echo && read -r _; ${limit(soft)}`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(keeper, 'exit')
  await once(keeper.stdout, 'data')
  try {
    return await work()
  } finally {
    keeper.stdin.end('\n')
    await ended
  }
}

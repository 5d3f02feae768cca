import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'

/** Works while this process gets no descriptor any more (EMFILE), and has what it had again after it. Needs `prlimit`. */
export const withoutDescriptors = async <T>(work: () => Promise<T>): Promise<T> => {
  const soft = /^Max open files +(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
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

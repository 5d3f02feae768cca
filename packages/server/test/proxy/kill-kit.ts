import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath, pathToFileURL } from 'node:url'

const here = path.dirname(fileURLToPath(import.meta.url))
const root = path.resolve(here, '../../../..')

/** The program to be killed as one file, made once: reading all its sources takes longer than its life. */
export async function bundle(child: string): Promise<string> {
  // The one that the test runner itself reads sources with.
  const resolve = createRequire(import.meta.resolve('vitest/package.json'))
  const vite = (await import(pathToFileURL(resolve.resolve('vite')).href)) as {
    build(options: object): Promise<unknown>
  }
  // Beside the modules it uses.
  const outDir = path.join(root, '.cache', `${path.parse(child).name}-${process.pid}`)
  const conditions = ['gatehouse-source', 'node', 'import', 'default']
  await vite.build({
    configFile: false,
    logLevel: 'silent',
    root,
    resolve: { conditions },
    ssr: { noExternal: [/^@gatehouse\//], resolve: { conditions } },
    build: {
      ssr: path.join(here, child),
      outDir,
      target: 'node20',
      rollupOptions: { output: { entryFileNames: 'child.mjs' } },
    },
  })
  return path.join(outDir, 'child.mjs')
}

type Child = {
  readonly ids: Map<string, string>
  readonly loaded: Promise<void>
  go(): void
  kill(): Promise<void>
}

/** A writer: it says `loaded`, waits to be told to go, and tells of each write that it has buffered. */
export const start = (program: string, args: readonly string[]): Child => {
  const child = spawn(process.execPath, [program, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ids = new Map<string, string>()
  let ready = () => {}
  const loaded = new Promise<void>((resolve) => {
    ready = resolve
  })
  const closed = once(child, 'close')
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line === 'loaded') ready()
    const [word, operation = '', id = ''] = line.split(' ')
    if (word === 'buffered') ids.set(id, operation)
  })
  return {
    ids,
    loaded: Promise.race([
      loaded,
      closed.then(([code]) => {
        throw new Error(`the writer ended with ${code}`)
      }),
    ]),
    go: () => void child.stdin.write('go\n'),
    async kill() {
      child.kill('SIGKILL')
      await closed
    },
  }
}

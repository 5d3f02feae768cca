import { spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { GatehouseError, type Recovery } from '@gatehouse/contract'
import { describeSystemFailure } from '../../domain/system-failure.ts'

export type Npm = readonly [program: string, ...args: string[]]

const isThere = (file: string): Promise<boolean> =>
  access(file, constants.R_OK).then(
    () => true,
    () => false,
  )

/** The npm that came with this Node, else the first on the path, or null. */
export async function findNpm(path: string): Promise<Npm | null> {
  const beside = join(dirname(process.execPath), '../lib/node_modules/npm/bin/npm-cli.js')
  if (await isThere(beside)) return [process.execPath, beside]
  for (const folder of path.split(delimiter).filter((part) => part.startsWith('/')))
    if (await isThere(join(folder, 'npm'))) return [join(folder, 'npm')]
  return null
}

const fetched = /^npm http (?:fetch|cache) .*\.tgz/gm
const timeoutMs = 15 * 60_000
const keptMax = 32_000

const causes: readonly (readonly [pattern: RegExp, detail: string, recovery: Recovery])[] = [
  [
    /EINTEGRITY/,
    'a package is not the one that was reviewed',
    { action: 'npm cache verify', description: 'Clean the cache, or use another registry.' },
  ],
  [
    /ENOSPC/,
    'the disk is full',
    { action: 'free some space', description: 'The engine takes about 90 MB.' },
  ],
  [
    /E404|ETARGET|E403|E401/,
    'the registry does not have it, or does not hand it out',
    { action: 'npm config set registry', description: 'Use a registry that has node-llama-cpp.' },
  ],
  [
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|network/i,
    'the registry of packages cannot be reached',
    {
      action: 'outbound.proxy',
      description:
        'Check the network; behind a proxy, set outbound.proxy or npm’s own https-proxy.',
    },
  ],
]

const failureOf = (said: string, how: string): GatehouseError => {
  const found = causes.find(([pattern]) => pattern.test(said))
  if (found)
    return new GatehouseError('EngineSetupFailed', { detail: found[1] }, { recovery: [found[2]] })
  return new GatehouseError(
    'EngineSetupFailed',
    { detail: `${how}; the log of the service has its output` },
    { cause: new Error(said) },
  )
}

/** Runs `npm ci` in a folder with a lock; no script of any package runs. `report` is told of packages fetched. */
export async function npmInstall(
  [program, ...args]: Npm,
  folder: string,
  environment: Readonly<Record<string, string>>,
  report: (done: number) => void,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted()
  const flags = ['--ignore-scripts', '--omit=optional', '--omit=dev', '--no-audit', '--no-fund']
  // @SECURITY Without the scripts of packages, and with the hash of each: npm-engine-installer.test.ts.
  const child = spawn(
    program,
    [...args, 'ci', ...flags, '--no-update-notifier', '--loglevel=http'],
    {
      cwd: folder,
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: false,
    },
  )
  let [said, done] = ['', 0]
  const end = () => void child.kill('SIGKILL')
  const timer = setTimeout(end, timeoutMs)
  signal.addEventListener('abort', end, { once: true })
  // One that was never started may have no streams.
  const streams = child.pid === undefined ? [] : [child.stdout, child.stderr]
  for (const stream of streams)
    stream.setEncoding('utf8').on('data', (text: string) => {
      done += text.match(fetched)?.length ?? 0
      said = (said + text).slice(-keptMax)
      report(done)
    })
  try {
    const how = await new Promise<string | null>((resolve, reject) => {
      child.once('error', (cause) =>
        reject(
          new GatehouseError(
            'EngineSetupFailed',
            { detail: describeSystemFailure(cause) },
            { cause },
          ),
        ),
      )
      child.once('close', (code, ended) =>
        resolve(code === 0 ? null : `npm ended with ${ended ?? code}`),
      )
    })
    signal.throwIfAborted()
    if (how !== null) throw failureOf(said, how)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
  }
}

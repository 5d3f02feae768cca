import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { GatehouseError, type RunFile } from '@gatehouse/contract'

/** Writes a small private file whole or not at all. */
export const writePrivateFile = (file: string, text: string): void => {
  const temporary = `${file}.${randomBytes(6).toString('hex')}`
  const descriptor = openSync(temporary, 'wx', 0o600)
  try {
    writeSync(descriptor, text)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  renameSync(temporary, file)
}

/** Trimmed text of a file; null where there is none. */
export const readText = (file: string): string | null =>
  existsSync(file) ? readFileSync(file, 'utf8').trim() : null

/**
 * The folder that holds everything: private to the user who runs the service.
 * @SECURITY A folder that others can write to is refused: whoever can swap the key or the policy files
 * has passed the gate. data-directory.test.ts fails without it.
 */
export const openDataDirectory = (dataDir: string): void => {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const { mode, uid } = statSync(dataDir)
  if (process.getuid && uid !== process.getuid())
    throw new GatehouseError('InvalidConfiguration', {
      origin: dataDir,
      detail: 'belongs to another user',
    })
  if ((mode & 0o022) !== 0)
    throw new GatehouseError('InvalidConfiguration', {
      origin: dataDir,
      detail: `can be written by others; run: chmod 700 ${dataDir}`,
    })
  if ((mode & 0o077) !== 0) chmodSync(dataDir, 0o700)
}

const runFile = (dataDir: string): string => join(dataDir, 'run.json')

/** Says where a running server listens, for the CLI and for scripts. */
export const writeRunFile = (dataDir: string, run: RunFile): void =>
  writePrivateFile(runFile(dataDir), `${JSON.stringify(run, null, 2)}\n`)

export const removeRunFile = (dataDir: string): void => rmSync(runFile(dataDir), { force: true })

const pidFile = (dataDir: string): string => join(dataDir, 'lock.pid')

/** Says who has the lock, before there is a run.json and for commands, which have none. */
export const writePid = (dataDir: string): void =>
  writePrivateFile(pidFile(dataDir), `${process.pid}\n`)

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** The process that has the lock, or null where a killed one left its number or none is known. */
export const holderPid = (dataDir: string): number | null => {
  const pid = Number(readText(pidFile(dataDir)))
  return Number.isSafeInteger(pid) && pid > 0 && isAlive(pid) ? pid : null
}

export const damagedFile = (origin: string): GatehouseError =>
  new GatehouseError(
    'InvalidConfiguration',
    { origin, detail: 'is damaged; restore it from a backup' },
    {
      recovery: [
        { action: `restore ${origin}`, description: 'Take it from a backup of this installation.' },
      ],
    },
  )

/** The name of this node: made once, it names the node's audit chain. */
export const nodeName = (dataDir: string): string => {
  const file = join(dataDir, 'node-id')
  const known = readText(file)
  if (known !== null) {
    if (!/^node-[0-9a-f]{12}$/.test(known)) throw damagedFile(file)
    return known
  }
  const name = `node-${randomBytes(6).toString('hex')}`
  writePrivateFile(file, `${name}\n`)
  return name
}

export const cliTokenFile = (dataDir: string): string => join(dataDir, 'cli-token')

/** The operator token that the CLI of this machine uses, or null before the first start. */
export const readCliToken = (dataDir: string): string | null => readText(cliTokenFile(dataDir))

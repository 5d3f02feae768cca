import { once } from 'node:events'
import {
  closeSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import { expect, test } from 'vitest'
import { startSwapper } from '../../test/kit/start-swapper.ts'
import { createFilesFactory } from './create-files-factory.ts'

const full = process.env['GATEHOUSE_FULL'] === '1'
const reads = full ? 100_000 : 3_000
const writes = full ? 30_000 : 1_000
const opens = full ? 30_000 : 1_000

/** ROOT/dir is a folder, then a link to OUT, then a folder, and so on, while the work goes on. */
const whileSwapping = async (
  work: (kit: {
    readonly root: string
    readonly out: string
    readonly files: ReturnType<ReturnType<typeof createFilesFactory>['open']>
  }) => Promise<void>,
): Promise<void> => {
  const base = mkdtempSync(path.join(tmpdir(), 'gatehouse-swap-'))
  const [root, out] = [path.join(base, 'ROOT'), path.join(base, 'OUT')]
  for (const folder of [root, out, path.join(root, 'dir')]) mkdirSync(folder)
  writeFileSync(path.join(root, 'dir/f'), 'INSIDE')
  writeFileSync(path.join(out, 'f'), 'CANARY')
  symlinkSync(out, path.join(root, 'link'))
  let made = 0
  using factory = createFilesFactory({
    ids: { next: (prefix) => `${prefix}-${made++}`, secret: () => Buffer.alloc(32) },
    clock: { wall: () => 0, now: () => 0 },
  })
  const files = factory.open({ name: 'alpha', workspace: root, mounts: [] })
  const swapper = await startSwapper(path.join(root, 'dir'), path.join(root, 'link'))
  try {
    await work({ root, out, files })
  } finally {
    swapper.kill('SIGKILL')
    await once(swapper, 'close')
    rmSync(base, { recursive: true, force: true })
  }
}

/** A busy machine lets the swapper and its victim meet less often; until then it goes on. */
const patience = (): (() => boolean) => {
  const until = performance.now() + 60_000
  return () => performance.now() > until
}

const attempt = async <T>(step: () => T | Promise<T>): Promise<T | null> => {
  try {
    return await step()
  } catch (error) {
    if (error instanceof GatehouseError || (error as NodeJS.ErrnoException).code) return null
    throw error
  }
}

const naiveRead = (root: string, name: string): string | null => {
  const real = realpathSync(path.join(root, name))
  return real.startsWith(`${root}/`) ? readFileSync(path.join(root, name), 'utf8') : null
}

test('no read escapes while a folder is swapped for a link, and a naive reader does (F04)', async () => {
  await whileSwapping(async ({ root, files }) => {
    const isLate = patience()
    const seen = { inside: 0, escaped: 0, naive: 0 }
    for (let i = 0; i < reads || (seen.inside < reads / 50 && !isLate()); i++) {
      const read = await attempt(() => files.read('dir/f', { bytesMax: 100 }))
      const text = read?.bytes.toString()
      if (text === 'INSIDE') seen.inside++
      else if (text !== undefined) seen.escaped++
    }
    const isNaiveLate = patience()
    for (let i = 0; (full && i < reads) || (seen.naive === 0 && !isNaiveLate()); i++) {
      if ((await attempt(() => naiveRead(root, 'dir/f'))) === 'CANARY') seen.naive++
    }
    if (full) process.stderr.write(`${reads} reads: ${JSON.stringify(seen)}\n`)
    expect(seen.escaped).toBe(0)
    expect(seen.inside).toBeGreaterThanOrEqual(reads / 50)
    expect(seen.naive).toBeGreaterThan(0)
  })
}, 180_000)

const naiveWrite = (root: string, name: string): void => {
  const file = path.join(root, name)
  if (!realpathSync(path.dirname(file)).startsWith(`${root}/`)) return
  writeFileSync(`${file}.tmp`, 'naive')
  renameSync(`${file}.tmp`, file)
}

const outcomesOf = (out: string): string[] =>
  readdirSync(out).filter(
    (name) => name !== 'f' || readFileSync(path.join(out, 'f'), 'utf8') !== 'CANARY',
  )

test('no write escapes while a folder is swapped for a link, and a naive writer does (F04)', async () => {
  await whileSwapping(async ({ root, out, files }) => {
    const isLate = patience()
    let written = 0
    const bytes = Buffer.from('MINE')
    const uses = [
      () => files.write('dir/new', bytes, { createParents: true }),
      () => files.append('dir/log', bytes),
      () => files.makeDirectory('dir/sub', { parents: true }),
      () => files.write('dir/sub/deep', bytes, { createParents: true }),
      () => files.copy('dir/new', 'dir/copy', { overwrite: true }),
      () => files.move('dir/copy', 'dir/moved', { overwrite: true }),
      () => files.trash('dir/moved', { recursive: false }),
    ]
    for (let i = 0; i < writes || (written < writes / 50 && !isLate()); i++) {
      if (await attempt(uses[i % uses.length] as () => Promise<unknown>)) written++
    }
    expect(outcomesOf(out)).toEqual([])
    const isNaiveLate = patience()
    let naive = 0
    for (; outcomesOf(out).length === 0 && !isNaiveLate(); naive++) {
      await attempt(() => naiveWrite(root, 'dir/naive'))
    }
    if (full) process.stderr.write(`${writes} writes: ${written} done, naive out after ${naive}\n`)
    expect(outcomesOf(out)).not.toEqual([])
    expect(written).toBeGreaterThanOrEqual(writes / 50)
  })
}, 180_000)

test('no folder is given by a link that comes while it is opened, and a naive opener takes it', async () => {
  await whileSwapping(async ({ root, out }) => {
    const isLate = patience()
    let made = 0
    const seen = { inside: 0, escaped: 0, naive: 0 }
    const place = path.join(root, 'dir')
    // By the file that is there: names are swapped meanwhile.
    const isOut = (name: string) => statSync(name).ino === statSync(out).ino
    for (let i = 0; i < opens || ((seen.inside < 1 || seen.naive < 1) && !isLate()); i++) {
      using factory = createFilesFactory({
        ids: { next: (prefix) => `${prefix}-${made++}`, secret: () => Buffer.alloc(32) },
        clock: { wall: () => 0, now: () => 0 },
      })
      factory.note('agent', { name: 'alpha', mounts: [{ path: root, read_only: false }] })
      const mounts = [{ path: place, read_only: true }]
      const read = await attempt(async () => {
        const files = factory.open({ name: 'beta', workspace: path.join(root, '../BETA'), mounts })
        return (await files.read(`${place}/f`, { bytesMax: 100 })).bytes.toString()
      })
      const held = await attempt(() => {
        using folder = factory.hold(place)
        return isOut(folder.source)
      })
      if (read === 'INSIDE') seen.inside += 1
      else if (read !== null || held === true) seen.escaped += 1
      const naive = await attempt(() => {
        if (lstatSync(place).isSymbolicLink()) return false
        const fd = openSync(place, 'r')
        try {
          return isOut(`/proc/self/fd/${fd}`)
        } finally {
          closeSync(fd)
        }
      })
      if (naive === true) seen.naive += 1
    }
    expect(seen.escaped).toBe(0)
    expect(seen.inside).toBeGreaterThan(0)
    expect(seen.naive).toBeGreaterThan(0)
  })
})

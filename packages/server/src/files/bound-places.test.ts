import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { typeOf } from '../../test/kit/type-of.ts'
import type { Files, Fingerprint } from '../ports/files.ts'
import { comingBefore, openFiles as open } from './testing.ts'

// A change that a person agreed to is made at the place that was shown, also where nothing stood there.

const bytes = (text: string): Buffer => Buffer.from(text)

async function* chunks() {
  yield bytes('new')
}

type Use = readonly [
  what: string,
  at: string,
  use: (files: Files, at: string, bound: Fingerprint) => Promise<unknown>,
]

const uses: readonly Use[] = [
  ['write', 'none', (files, at, bound) => files.write(at, bytes('new'), { ...noParents, bound })],
  [
    'write into folders that are made',
    'made/deep/none',
    (files, at, bound) => files.write(at, bytes('new'), { createParents: true, bound }),
  ],
  [
    'download',
    'none',
    (files, at, bound) => files.writeStream(at, chunks(), { ...noParents, mustBeNew: true, bound }),
  ],
  ['append', 'none', (files, at, bound) => files.append(at, bytes('new'), { bound })],
  [
    'append to what is there',
    'same',
    (files, at, bound) => files.append(at, bytes('new'), { bound }),
  ],
  ['delete', 'same', (files, at, bound) => files.trash(at, { recursive: false, bound })],
  ...(['copy', 'move'] as const).flatMap((name): Use[] => [
    [
      `${name} there`,
      'none',
      async (files, at, destination) => {
        const bound = { source: await files.fingerprint('own', { entry: true }), destination }
        return files[name]('own', at, { overwrite: false, bound })
      },
    ],
    [
      `${name} of a folder there`,
      'none',
      async (files, at, destination) => {
        const bound = { source: await files.fingerprint('tree', { entry: true }), destination }
        return files[name]('tree', at, { overwrite: false, bound })
      },
    ],
    [
      `${name} from there`,
      'same',
      async (files, at, source) => {
        const bound = { source, destination: await files.fingerprint('to', { entry: true }) }
        return files[name](at, 'to', { overwrite: false, bound })
      },
    ],
  ]),
]
const noParents = { createParents: false }

const prepared = () => {
  const kit = open()
  kit.put('own', 'own')
  kit.put('tree/x', 'x')
  for (const folder of ['dir', 'elsewhere']) mkdirSync(kit.at(folder))
  kit.put('dir/same', 'same')
  linkSync(kit.at('dir/same'), kit.at('elsewhere/same'))
  return kit
}

test.each(uses)(
  '%s is not done in another folder that the path leads to by then',
  async (_, name, use) => {
    const at = `dir/${name}`
    {
      using kit = prepared()
      await use(kit.files, at, await kit.files.fingerprint(at, { entry: true }))
    }
    using kit = prepared()
    const bound = await kit.files.fingerprint(at, { entry: true })
    renameSync(kit.at('dir'), kit.at('was'))
    symlinkSync('elsewhere', kit.at('dir'))
    expect(await typeOf(use(kit.files, at, bound))).toBe('ApprovalStale')
    const left = readdirSync(kit.at('elsewhere'), { recursive: true, withFileTypes: true })
    expect(left.filter((entry) => entry.isFile()).map((entry) => entry.name)).toEqual(['same'])
    expect([kit.get('elsewhere/same'), kit.get('own'), kit.get('tree/x')]).toEqual([
      'same',
      'own',
      'x',
    ])
  },
)

test('a link on the way to folders that are made may stand there as before', async () => {
  using kit = prepared()
  symlinkSync('elsewhere', kit.at('link'))
  const bound = await kit.files.fingerprint('link/made/none')
  await kit.files.write('link/made/none', bytes('new'), { createParents: true, bound })
  expect(kit.get('elsewhere/made/none')).toBe('new')
})

test('an append makes the file that was not there, and adds to none that came there meanwhile', async () => {
  using kit = open()
  kit.put('other', '')
  const bound = await kit.files.fingerprint('log')
  let isOurs = true
  {
    using _before = comingBefore('openSync', (at) => {
      if (!isOurs || path.basename(at) !== 'log') return
      isOurs = false
      writeFileSync(kit.at('log'), 'of somebody else')
    })
    expect(await typeOf(kit.files.append('log', bytes('new'), { bound }))).toBe('ApprovalStale')
  }
  expect(kit.get('log')).toBe('of somebody else')
  rmSync(kit.at('log'))
  await kit.files.append('log', bytes('new'), { bound })
  expect(kit.get('log')).toBe('new')
})

test('a move to another of the folders replaces a link itself, and only the one that was shown', async () => {
  for (const isChanged of [false, true]) {
    using kit = open({ mount: true })
    const [link, ...files] = ['link', 'one', 'two'].map((name) => path.join(kit.other, name))
    for (const file of files) writeFileSync(file, 'kept')
    const pointTo = (target: string) => {
      rmSync(link as string, { force: true })
      symlinkSync(target, link as string)
    }
    pointTo('one')
    kit.put('a', 'a')
    const bound = {
      source: await kit.files.fingerprint('a', { entry: true }),
      destination: await kit.files.fingerprint(link as string, { entry: true }),
    }
    if (isChanged) pointTo('two')
    const moving = kit.files.move('a', link as string, { overwrite: true, bound })
    expect(await typeOf(moving)).toBe(isChanged ? 'ApprovalStale' : 'done')
    expect([existsSync(kit.at('a')), lstatSync(link as string).isSymbolicLink()]).toEqual([
      isChanged,
      isChanged,
    ])
    expect(files.map((file) => readFileSync(file, 'utf8'))).toEqual(['kept', 'kept'])
  }
})

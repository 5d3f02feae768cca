import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createFilesFactory } from '../files/create-files-factory.ts'
import type { ProcessRequest, ProcessSetting, ProcessSite } from '../ports/processes.ts'
import { openSpec } from './open-spec.ts'
import type { Plan } from './plan.ts'

const open = (link?: string) => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-spec-')))
  const project = join(base, 'project')
  mkdirSync(join(project, 'docs'), { recursive: true })
  if (link) symlinkSync(join(project, 'docs'), link)
  const mounts = link ? [{ path: link, read_only: true }] : []
  const factory = createFilesFactory({
    ids: { next: (prefix) => `${prefix}-x`, secret: () => Buffer.alloc(32) },
    clock: { wall: () => 0, now: () => 0 },
  })
  onTestFinished(() => {
    factory[Symbol.dispose]()
    rmSync(base, { recursive: true })
    if (link) rmSync(link)
  })
  const site: ProcessSite = {
    agent: 'a',
    workspace: base,
    mounts,
    files: factory.open({ name: 'a', workspace: base, mounts }),
    permits: () => true,
  }
  const { dev, ino } = statSync(project, { bigint: true })
  const place = { path: project, dev: String(dev), ino: String(ino) }
  const facts = { program: { path: '/bin/true' }, working_directory: place }
  const specOf = () =>
    openSpec({
      site,
      request: { args: [], environment: {}, network: [] as string[] } as unknown as ProcessRequest,
      plan: { facts, code: [] } as unknown as Plan,
      setting: { approved: false } as unknown as ProcessSetting,
      copies: base,
      openEgress: () => Promise.reject(new Error('nobody asked for hosts')),
    })
  return { base, project, specOf }
}

test('the working folder is the very folder that was looked at', async () => {
  const { base, project, specOf } = open()
  {
    await using opened = await specOf()
    expect(opened.spec.mounts.map(({ target }) => target)).toEqual([base, project])
  }
  renameSync(project, join(base, 'moved'))
  mkdirSync(project)
  await expect(specOf()).rejects.toMatchObject({ type: 'ApprovalStale' })
})

test('a read-only folder inside the workspace is so for programs by each of its paths', async () => {
  const link = join(realpathSync(tmpdir()), `gatehouse-spec-link-${process.pid}`)
  const { base, project, specOf } = open(link)
  await using opened = await specOf()
  const mounts = opened.spec.mounts.map(({ target, writable }) => [target, writable])
  expect(mounts).toContainEqual([link, false])
  expect(mounts).toContainEqual([join(project, 'docs'), false])
  expect(mounts.filter(([, writable]) => writable)).toEqual([
    [base, true],
    [project, true],
  ])
})

import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { makeWorkspaces, openWorkspaces as open } from './open-workspaces.ts'

const openWorkspaces = (folder: string, isNetworked: boolean) =>
  open(makeWorkspaces(folder), isNetworked)

const folderOf = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-workspaces-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'workspaces')
}

test('a folder has one id, whoever opens it, and another folder another one', () => {
  const [folder, other] = [folderOf(), folderOf()]
  const { site } = openWorkspaces(folder, true)
  expect(site).toMatch(/^site-[0-9a-f]{12}$/)
  expect(openWorkspaces(folder, true).site).toBe(site)
  expect(openWorkspaces(other, true).site).not.toBe(site)
  expect(readdirSync(folder)).toEqual(['.gatehouse-site'])
})

test('a folder that is a link lies where it leads, so that agents see one path on all nodes', () => {
  const [folder, link] = [folderOf(), folderOf()]
  expect(openWorkspaces(folder, true).path).toBe(folder)
  symlinkSync(folder, link)
  expect(openWorkspaces(link, true).pathOf('mailbot')).toBe(join(folder, 'mailbot'))
})

test('a node alone on its store writes nothing into the folder', () => {
  const folder = folderOf()
  const alone = openWorkspaces(folder, false)
  expect(alone.site).toBeNull()
  expect(alone.pathOf('mailbot')).toBe(join(folder, 'mailbot'))
  expect(alone.holds('mailbot')).toBe(false)
  mkdirSync(join(folder, 'mailbot'))
  expect(alone.holds('mailbot')).toBe(true)
  expect(readdirSync(folder)).toEqual(['mailbot'])
})

test('a workspace that is set aside is whole under another name, of which none is twice', () => {
  const folder = folderOf()
  const opened = openWorkspaces(folder, true)
  expect(opened.setAside('mailbot', 0)).toBeNull()
  for (const [wallMs, text] of [
    [0, 'one'],
    [1, 'two'],
  ] as const) {
    mkdirSync(opened.pathOf('mailbot'))
    writeFileSync(join(opened.pathOf('mailbot'), 'a.txt'), text)
    const name = `mailbot.before-1970-01-01T000000.00${wallMs}Z`
    expect(opened.setAside('mailbot', wallMs)).toBe(name)
    expect(readFileSync(join(folder, name, 'a.txt'), 'utf8')).toBe(text)
    expect(opened.holds('mailbot')).toBe(false)
  }
})

test('a mark is seen by who has the folder open, and not in a copy of it', () => {
  const folder = folderOf()
  const [one, two] = [openWorkspaces(folder, true), openWorkspaces(folder, true)]
  const first = one.mark('node-1')
  expect(two.markOf('node-1')).toBe(first)
  expect(two.markOf('node-2')).toBeNull()
  const copied = folderOf()
  cpSync(folder, copied, { recursive: true })
  const copy = openWorkspaces(copied, true)
  expect(copy.site).toBe(one.site)
  const second = one.mark('node-1')
  expect(two.markOf('node-1')).toBe(second)
  expect(copy.markOf('node-1')).toBe(first)
})

test('a folder that does not take what is renamed into it is refused by name', () => {
  const folder = folderOf()
  const opened = openWorkspaces(folder, true)
  mkdirSync(join(folder, '.gatehouse-mark.node-1'))
  writeFileSync(join(folder, '.gatehouse-mark.node-1/file'), '')
  expect(() => opened.mark('node-1')).toThrow(
    `This node does not serve: ${folder} does not keep files as it should`,
  )
})

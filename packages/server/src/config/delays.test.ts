import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadSettings } from './load.ts'

const settingsOf = (text: string) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-proxy-'))
  try {
    writeFileSync(join(folder, 'gatehouse.yaml'), text)
    return loadSettings({ 'data-dir': folder }, {})
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('delays, bursts and the time for undoing are as usual unless they are set', () => {
  expect(settingsOf('')).toMatchObject({
    'proxy.delays': new Map(),
    'proxy.burst_limit': 20,
    'proxy.burst_window': 60_000,
    'proxy.rollback_kept': 72 * 3_600_000,
    'proxy.sync_every': null,
  })
  const text = `proxy:
  delays: [mail.send=2m, calendar.create=0s]
  burst_limit: 5
  burst_window: 10s
  rollback_kept: 24h
  sync_every: 5m
`
  expect(settingsOf(text)).toMatchObject({
    'proxy.delays': new Map([
      ['mail.send', 120],
      ['calendar.create', 0],
    ]),
    'proxy.burst_limit': 5,
    'proxy.burst_window': 10_000,
    'proxy.rollback_kept': 24 * 3_600_000,
    'proxy.sync_every': 300_000,
  })
})

test('a delay that is none is refused where it stands', () => {
  for (const [line, detail] of [
    ['mail.send', 'operation=duration'],
    ['send=60s', 'operation=duration'],
    ['mail.send=soon', 'duration such as'],
    ['mail.send=60s=1', 'operation=duration'],
    ['mail.send=90d', 'must lie between'],
  ])
    expect(() => settingsOf(`proxy:\n  delays: [${line}]\n`)).toThrow(detail)
  expect(() => settingsOf('proxy:\n  delays: [mail.send=1s, mail.send=2s]\n')).toThrow('two delays')
})

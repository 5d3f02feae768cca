import { expect, test } from 'vitest'
import { loadSettings } from './load.ts'

const load = (flags: Record<string, string>) =>
  loadSettings({ 'data-dir': '/does/not/exist', ...flags }, {})

test('a public address is an https origin, and nothing else', () => {
  expect(load({})['server.public_url']).toBeNull()
  expect(load({ 'public-url': 'https://gate.example.org/' })['server.public_url']).toBe(
    'https://gate.example.org',
  )
  expect(load({ 'public-url': 'https://gate.example.org:8443' })['server.public_url']).toBe(
    'https://gate.example.org:8443',
  )
  for (const wrong of [
    'http://gate.example.org',
    'https://gate.example.org/gatehouse',
    'https://ana@gate.example.org',
    'gate.example.org',
  ])
    expect(() => load({ 'public-url': wrong })).toThrow('https address without a path')
})

test('the address for other nodes is an http origin, and nothing else', () => {
  expect(load({})['node_url']).toBeNull()
  expect(load({ 'node-url': 'http://10.0.0.5:7700/' })['node_url']).toBe('http://10.0.0.5:7700')
  for (const wrong of ['https://10.0.0.5', '10.0.0.5:7700', 'http://one/x', 'http://a@one'])
    expect(() => load({ 'node-url': wrong })).toThrow('http address without a path')
})

test('trusted proxies are addresses and networks', () => {
  expect(
    load({ 'trusted-proxies': '127.0.0.1,10.0.0.0/8,fd00::/8' })['server.trusted_proxies'],
  ).toEqual(['127.0.0.1', '10.0.0.0/8', 'fd00::/8'])
  for (const wrong of ['proxy.example', '10.0.0.0/33', '10.0.0.0/8/8', '0.0.0.0/x'])
    expect(() => load({ 'trusted-proxies': wrong })).toThrow(`"${wrong}" is no address`)
})

import { expect, test } from 'vitest'
import { isLoopbackHost, networkPlaces } from './network-places.ts'

const run = { gateway_url: 'http://127.0.0.1:7700', dashboard_url: 'https://127.0.0.1:7800' }
const addresses = ['192.168.1.5', '[2001:db8::7]']

test('names the addresses that other machines can use, where something listens beyond this one', () => {
  const local = { host: '127.0.0.1', dashboard_host: '127.0.0.1' }
  expect(networkPlaces(local, run, addresses)).toEqual({ gateway: [], dashboard: [] })
  const open = { host: '0.0.0.0', dashboard_host: '::' }
  expect(networkPlaces(open, run, addresses)).toEqual({
    gateway: ['http://192.168.1.5:7700'],
    dashboard: ['https://192.168.1.5:7800', 'https://[2001:db8::7]:7800'],
  })
  const one = { host: '192.168.1.5', dashboard_host: 'localhost' }
  const there = { ...run, gateway_url: 'http://192.168.1.5:7700' }
  expect(networkPlaces(one, there, addresses)).toEqual({
    gateway: ['http://192.168.1.5:7700'],
    dashboard: [],
  })
})

test('knows hosts that only this machine reaches', () => {
  expect(['127.0.0.1', '127.9.9.9', '::1', '[::1]', 'localhost'].every(isLoopbackHost)).toBe(true)
  expect(['0.0.0.0', '::', '10.0.0.1', 'gate.example'].some(isLoopbackHost)).toBe(false)
})

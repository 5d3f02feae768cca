import { networkInterfaces } from 'node:os'
import type { RunFile } from '@gatehouse/contract'

type Hosts = { readonly host: string; readonly dashboard_host: string }

/** Addresses for other machines; empty where nothing listens beyond this one. */
export type NetworkPlaces = {
  readonly gateway: readonly string[]
  readonly dashboard: readonly string[]
}

/** Hosts of listeners that only this machine reaches. */
export const isLoopbackHost = (host: string): boolean =>
  /^(?:127(?:\.\d{1,3}){3}|\[?::1\]?|localhost)$/.test(host)

/** Addresses of this machine's interfaces, as they stand in a URL; without those that hold on one link only. */
const interfaceAddresses = (): readonly string[] =>
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, address }) => !internal && !/^(?:169\.254\.|fe80:)/i.test(address))
    .map(({ address, family }) => (family === 'IPv6' ? `[${address}]` : address))

const placesOf = (host: string, url: string, addresses: readonly string[]): readonly string[] => {
  if (isLoopbackHost(host)) return []
  // A listener on one address says that one already.
  if (host !== '0.0.0.0' && host !== '::') return [url]
  const { protocol, port } = new URL(url)
  return addresses
    .filter((address) => host === '::' || !address.startsWith('['))
    .map((address) => `${protocol}//${address}:${port}`)
}

/** Where other machines reach the gateway and the dashboard. */
export const networkPlaces = (
  { host, dashboard_host: dashboardHost }: Hosts,
  run: Pick<RunFile, 'gateway_url' | 'dashboard_url'>,
  addresses: readonly string[] = interfaceAddresses(),
): NetworkPlaces => ({
  gateway: placesOf(host, run.gateway_url, addresses),
  dashboard: placesOf(dashboardHost, run.dashboard_url, addresses),
})

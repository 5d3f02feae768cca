import type { Capability } from '../../ports/capability.ts'
import { credentialedRequest } from './credentialed-request.ts'
import { dnsLookup } from './dns-lookup.ts'
import { download } from './download.ts'
import { httpRequest } from './http-request.ts'
import { portCheck } from './port-check.ts'

/** Capabilities of an agent beyond this machine. */
export const networkCapabilities: readonly Capability[] = [
  credentialedRequest,
  dnsLookup,
  download,
  httpRequest,
  portCheck,
]

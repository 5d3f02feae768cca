import { z } from 'zod'
import { Timestamp } from './ids.ts'

/** As it is written: a duration is a text such as `24h`, a map has a program with its arguments by agent. */
export const SettingValue = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.array(z.string()),
  z.record(z.string(), z.array(z.string())),
  z.null(),
])
export type SettingValue = z.infer<typeof SettingValue>

/** Of two that name a setting the later one here wins. */
export const SettingOrigin = z.enum(['default', 'file', 'environment', 'flag'])
export type SettingOrigin = z.infer<typeof SettingOrigin>

export const Setting = z.object({
  key: z.string(),
  /** Active value; null where there is none, and for a secret. */
  value: SettingValue,
  /** Whether somebody set it, so that it is not at its default: all that is told of a secret. */
  set: z.boolean(),
  /** The value holds, or may hold, a secret, and is never shown. */
  secret: z.boolean(),
  origin: SettingOrigin,
  /** `gatehouse.yaml:12`, a variable or a flag; null for a default. */
  source: z.string().nullable(),
  default: SettingValue,
  purpose: z.string(),
})
export type Setting = z.infer<typeof Setting>

/** Settings as they were when the service started; a change of the file is read at the next start. */
export const Configuration = z.object({
  settings: z.array(Setting),
  /** Path of the configuration file; null where there is none. */
  file: z.string().nullable(),
  /** Version of Gatehouse. */
  version: z.string(),
})
export type Configuration = z.infer<typeof Configuration>

/** Certificate that the dashboard is served with. Fingerprints are of SHA-256, as browsers show them. */
export const Certificate = z.object({
  /** `local`: by the authority of this installation, renewed by itself. `own`: `tls.cert`, read again when it changes. */
  origin: z.enum(['local', 'own']),
  fingerprint: z.string(),
  names: z.array(z.string()),
  valid_from: Timestamp,
  valid_until: Timestamp,
  /** The local authority, which browsers have to trust; null with a certificate of one's own. */
  authority: z
    .object({ fingerprint: z.string(), valid_until: Timestamp, pem: z.string() })
    .nullable(),
})
export type Certificate = z.infer<typeof Certificate>

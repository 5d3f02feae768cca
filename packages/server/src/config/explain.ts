import { basename } from 'node:path'
import type { Setting, SettingOrigin, SettingValue } from '@gatehouse/contract'
import { hasSecret, isKnownSecret, secretArguments } from '@gatehouse/contract/likely-secret'
import type { Field } from './field.ts'

/** A value as somebody wrote it, and where. */
export type Written = {
  readonly written: unknown
  readonly kind: SettingOrigin
  /** `--flag`, `VARIABLE`, `file:line:column` or `default`. */
  readonly origin: string
}

const webAddress = /[a-z][a-z0-9+.-]*:\/\/\S+/i

const isSecretText = (text: string): boolean => {
  const [url] = webAddress.exec(text) ?? []
  return isKnownSecret(text) || (url !== undefined && (!URL.canParse(url) || hasSecret(url)))
}

/** An element of a list is a text, or a record such as a target of the audit log. */
const isSecretElement = (one: unknown): boolean =>
  typeof one === 'string'
    ? isSecretText(one)
    : Object.values(one ?? {}).some((text) => typeof text === 'string' && isSecretText(text))

/** Whether somebody put a secret where none belongs, as a password into an address. */
function holdsSecret(value: SettingValue): boolean {
  if (typeof value === 'string') return isSecretText(value)
  if (Array.isArray(value)) return (value as readonly unknown[]).some(isSecretElement)
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some((argv) => secretArguments(argv).length > 0)
}

/** `file:line` of a position in the file, whose path is told once. */
const sourceOf = ({ kind, origin }: Written): string | null => {
  if (kind === 'default') return null
  return kind === 'file' ? basename(origin).replace(/:\d+$/, '') : origin
}

/** Explanation of a setting for people. */
export function explainSetting(field: Field, found: Written, active: unknown): Setting {
  // A path is shown as the one it leads to; all else as it was written.
  const shown = field.type === 'string' ? active : found.written
  // @SECURITY Every reader of settings sees this, in a browser too; explain.test.ts.
  const value = field.secret ? null : (shown as SettingValue)
  const secret = field.secret === true || holdsSecret(value)
  return {
    key: field.key,
    value: secret ? null : value,
    set: found.kind !== 'default',
    secret,
    origin: found.kind,
    source: sourceOf(found),
    default: field.default as SettingValue,
    purpose: field.description,
  }
}

import {
  didYouMean,
  FileMatch,
  PolicyFile,
  PolicyLimit,
  PolicyRule,
  PolicyTest,
} from '@gatehouse/contract'
import type { z } from 'zod'
import type { Fault, Path, PlacedYaml } from './yaml-text.ts'

const keysAt = (path: Path): readonly string[] => {
  const [list] = path
  if (list === undefined) return Object.keys(PolicyFile.shape)
  if (list === 'rules' && path.includes('match')) return Object.keys(FileMatch.shape)
  if (list === 'rules') return Object.keys(PolicyRule.shape)
  if (list === 'limits') return Object.keys(PolicyLimit.shape)
  return Object.keys(PolicyTest.shape)
}

const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (inner, part) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, part)
        ? (inner as Record<string | number, unknown>)[part]
        : undefined,
    value,
  )

/** `rules[2].tier` */
const nameOf = (path: Path): string =>
  path.reduce<string>(
    (name, part) =>
      typeof part === 'number' ? `${name}[${part}]` : name ? `${name}.${part}` : part,
    '',
  ) || 'the file'

const orList = (items: readonly string[]): string =>
  items.length > 1 ? `${items.slice(0, -1).join(', ')} or ${items.at(-1)}` : (items[0] ?? '')

const messageOf = (issue: z.core.$ZodIssue, path: Path, value: unknown): string => {
  const name = nameOf(path)
  if (value === undefined) return `${name} is missing`
  if (issue.code === 'invalid_value') {
    const values = issue.values.map(String)
    const hint = typeof value === 'string' ? didYouMean(value, values) : ''
    return `${name} must be ${orList(values)}.${hint}`
  }
  if (issue.code === 'invalid_type') return `${name} must be of type ${issue.expected}`
  return `${name}: ${issue.message}`
}

/** Faults of a value that may have one of several forms: by the form that it has. */
const byForm = (issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] => {
  if (issue.code !== 'invalid_union') return [issue]
  const isOfAnother = ({ code, path }: z.core.$ZodIssue) =>
    path.length === 0 && (code === 'invalid_type' || code === 'invalid_value')
  const [first = []] = issue.errors
  const form = issue.errors.find((issues) => !issues.some(isOfAnother)) ?? first
  return form.flatMap((inner) => byForm({ ...inner, path: [...issue.path, ...inner.path] }))
}

/** Faults that zod found in a file, each at its line and column and in a sentence for a person. */
export const shapeFaults = (error: z.ZodError, yaml: PlacedYaml): readonly Fault[] =>
  error.issues.flatMap(byForm).flatMap((issue): readonly Fault[] => {
    const path = issue.path.filter((part) => typeof part !== 'symbol')
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        ...yaml.atKey([...path, key]),
        message: `unknown key ${key}.${didYouMean(key, keysAt(path))}`,
      }))
    }
    const message = messageOf(issue, path, valueAt(yaml.value, path))
    return [{ ...yaml.at(path), message }]
  })

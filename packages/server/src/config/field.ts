/** How a setting is written and checked. Every one is also a flag, a variable and a key of `gatehouse.yaml`. */
export type Field = {
  /** Key in the file; a dot is one level. The flag is `--key-with-dashes`, the variable `GATEHOUSE_KEY`. */
  readonly key: string
  readonly type:
    | 'string'
    | 'integer'
    | 'boolean'
    | 'duration'
    | 'list'
    | 'choice'
    | 'commands'
    | 'targets'
    | 'audit targets'
  readonly default:
    | string
    | number
    | boolean
    | readonly string[]
    | Readonly<Record<string, readonly string[]>>
    | null
  readonly description: string
  readonly min?: number
  readonly max?: number
  readonly choices?: readonly string[]
  /** The value is never shown: it is a secret, or one is part of it. */
  readonly secret?: true
  /** Name of the flag that takes no value and sets the opposite: `--no-first-agent`. */
  readonly negated?: string
}

export const flagOf = ({ key, negated }: Field): string =>
  `--${negated ? 'no-' : ''}${key.replace(/^server\./, '').replaceAll(/[._]/g, '-')}`

export const variableOf = ({ key }: Field): string =>
  `GATEHOUSE_${key
    .replace(/^server\./, '')
    .replaceAll('.', '_')
    .toUpperCase()}`

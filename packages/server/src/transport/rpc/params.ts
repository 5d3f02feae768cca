import { GatehouseError } from '@gatehouse/contract'
import { isMembers, type Members } from '../http/envelope.ts'

/** One named parameter: as much of JSON Schema as the methods need. */
export type Field =
  | { readonly type: 'string'; readonly maxLength: number; readonly description: string }
  | {
      readonly type: 'number'
      readonly minimum: number
      readonly maximum: number
      readonly description: string
    }
  | {
      readonly type: 'object'
      readonly description: string
      readonly fields?: Fields
      readonly required?: readonly string[]
    }

export type Fields = { readonly [name: string]: Field }

const refuse = (member: string, detail: string): never => {
  throw new GatehouseError('InvalidParams', { detail: `${member} ${detail}`, member })
}

const checkField = (path: string, field: Field, value: unknown): void => {
  switch (field.type) {
    case 'string':
      if (typeof value !== 'string') refuse(path, 'must be a string')
      else if (value.length > field.maxLength)
        refuse(path, `may have at most ${field.maxLength} characters`)
      return
    case 'number':
      if (typeof value !== 'number') refuse(path, 'must be a number')
      else if (value < field.minimum || value > field.maximum) {
        refuse(path, `must lie between ${field.minimum} and ${field.maximum}`)
      }
      return
    case 'object':
      if (!isMembers(value)) refuse(path, 'must be an object')
      else if (field.fields) checkMembers(`${path}.`, field.fields, field.required ?? [], value)
  }
}

const checkMembers = (
  prefix: string,
  fields: Fields,
  required: readonly string[],
  value: Members,
): void => {
  for (const name of Object.keys(value)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (!field) {
      const known = Object.keys(fields).join(', ')
      refuse(prefix + name.slice(0, 64), `is not a parameter here (known: ${known})`)
    } else checkField(prefix + name, field, value[name])
  }
  for (const name of required) {
    if (!Object.hasOwn(value, name)) refuse(prefix + name, 'is missing')
  }
}

/** By name, closed: whoever misspells a parameter hears of it. Left out is the same as `{}`. */
export const checkParams = (
  fields: Fields,
  required: readonly string[],
  params: unknown,
): Members => {
  const members = params === undefined ? {} : params
  if (!isMembers(members)) {
    throw new GatehouseError('InvalidParams', {
      detail: 'params are an object of named parameters',
      member: 'params',
    })
  }
  checkMembers('', fields, required, members)
  return members
}

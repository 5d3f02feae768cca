import { z } from 'zod'

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: finding them is the point
const clean = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(/^[^\u0000-\u001f\u007f]*$/, 'control characters are not allowed')
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: finding them is the point

/**
 * A name or an id in a path. Its form is not judged here: what does not exist is "not found", however
 * it is spelt.
 */
export const pathName = clean(256)

export const queryText = (max = 256) => clean(max)

/** An integer in a query, where everything is text. */
export const queryInteger = <D extends number | undefined>(bounds: {
  readonly min: number
  readonly max: number
  readonly default: D
}) =>
  z
    .string()
    .optional()
    .transform((text, context) => {
      if (text === undefined) return bounds.default
      const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN
      if (Number.isInteger(value) && value >= bounds.min && value <= bounds.max) return value
      const detail = `expected an integer from ${bounds.min} to ${bounds.max}`
      context.addIssue({ code: 'custom', message: detail })
      return z.NEVER
    })
    .meta({
      type: 'integer',
      minimum: bounds.min,
      maximum: bounds.max,
      ...(bounds.default === undefined ? {} : { default: bounds.default }),
    })

/** A part of a list that can grow. */
export const page = <D extends number | undefined>(limit: {
  readonly max: number
  readonly default: D
}) => ({
  limit: queryInteger({ min: 1, ...limit }),
  offset: queryInteger({ min: 0, max: 1_000_000_000, default: 0 }),
})

const timeForm = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?)?$/

/** An ISO 8601 date or time, UTC where it names no zone, as the millisecond form that records carry. */
export const queryTime = z
  .string()
  .transform((text, context) => {
    const zoned = /(Z|[+-]\d{2}:\d{2})$/.test(text) || !text.includes('T')
    const ms = timeForm.test(text) ? Date.parse(zoned ? text : `${text}Z`) : Number.NaN
    if (!Number.isNaN(ms)) return new Date(ms).toISOString()
    context.addIssue({ code: 'custom', message: 'expected an ISO 8601 time' })
    return z.NEVER
  })
  .meta({ type: 'string', format: 'date-time' })

/** A range of time, its ends included. */
export const period = { since: queryTime.optional(), until: queryTime.optional() }

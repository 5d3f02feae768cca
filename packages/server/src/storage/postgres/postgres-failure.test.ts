import pg from 'pg'
import { expect, test } from 'vitest'
import { postgresFailure, types } from './dialect.ts'

const canary = 'c4n4ry-of-a-stored-value'
const conflict = 'Another change was stored first.'
const stopping = 'PostgreSQL: it is shutting down or starting'

/** As PostgreSQL raises it: every field that it may fill has the text of a statement or of a stored row. */
const databaseError = (code: string | undefined): pg.DatabaseError =>
  Object.assign(new pg.DatabaseError(`invalid input for ${canary}`, 100, 'error'), {
    code,
    detail: `Key (value)=(${canary}) already exists.`,
    hint: canary,
    where: canary,
    internalQuery: `select ${canary}`,
    schema: canary,
    table: canary,
    column: canary,
    dataType: canary,
    constraint: canary,
    routine: canary,
  })

const systemError = (code: string): Error =>
  Object.assign(new Error(`connect ${code} ${canary}`, { cause: new Error(canary) }), { code })

test.each<[string, unknown, string]>([
  ['a broken rule of the schema', databaseError('23505'), conflict],
  ['a wrong password', databaseError('28P01'), 'PostgreSQL: it refuses the user or the password'],
  ['a missing database', databaseError('3D000'), 'PostgreSQL: the database does not exist'],
  [
    'a missing permission',
    databaseError('42501'),
    'PostgreSQL: the user of the database lacks a permission',
  ],
  ['a full disk', databaseError('53100'), 'PostgreSQL: its disk is full'],
  ['a lack of memory', databaseError('53200'), 'PostgreSQL: its memory is used up'],
  ['too many connections', databaseError('53300'), 'PostgreSQL: it has too many connections'],
  ['a lock', databaseError('55P03'), 'PostgreSQL: a lock was not free in time'],
  ['a slow statement', databaseError('57014'), 'PostgreSQL: a statement took too long'],
  ['a shutdown', databaseError('57P01'), stopping],
  ['a read-only server', databaseError('25006'), 'PostgreSQL: it is read-only'],
  ['a failed cast', databaseError('22P02'), 'PostgreSQL: it reports SQLSTATE 22P02'],
  [
    'a code that is no SQLSTATE',
    databaseError(canary),
    'PostgreSQL: an unexpected failure, described in the log of the service',
  ],
  [
    'no code',
    databaseError(undefined),
    'PostgreSQL: an unexpected failure, described in the log of the service',
  ],
  [
    'no server',
    systemError('ECONNREFUSED'),
    'PostgreSQL: nothing listens at the address (ECONNREFUSED)',
  ],
  [
    'an error of the client',
    new Error(canary),
    'PostgreSQL: an unexpected failure, described in the log of the service',
  ],
  ['no error', canary, 'PostgreSQL: an unexpected failure, described in the log of the service'],
])('says of %s what it is, and nothing that PostgreSQL said', (_, cause, detail) => {
  const failure = postgresFailure(cause)
  expect(failure.facts).toEqual({ detail })
  expect(failure.type).toBe(detail === conflict ? 'Conflict' : 'StorageUnavailable')
  expect(failure.message).toContain(detail)
  const { type, message, facts } = failure
  expect(JSON.stringify({ type, message, facts })).not.toContain(canary)
  // The log has it: there the cause says all.
  expect(failure.cause).toBe(cause)
})

test('says of a code alone nothing that a peer can fill with text', () => {
  // Five capital letters or digits: no value, no name of a table or column in lower case.
  for (const code of ['abcde', '22P02 x', '', 'SELECT', `22P02\n${canary}`])
    expect(postgresFailure(databaseError(code)).message).not.toContain('SQLSTATE')
})

test('leaves a failure that has our words as it is', () => {
  const failure = postgresFailure(databaseError('53100'))
  expect(postgresFailure(failure)).toBe(failure)
})

test('takes a stored number beyond those of ours for damage, and rounds none', () => {
  const parse = types.getTypeParser(20, 'text') as (text: string) => number
  expect(parse('9007199254740991')).toBe(2 ** 53 - 1)
  let failure: unknown
  try {
    parse('9007199254740993')
  } catch (error) {
    failure = postgresFailure(error)
  }
  expect(failure).toMatchObject({
    type: 'StoreDamaged',
    message: 'The store is damaged: a whole number beyond 2^53 cannot be read.',
  })
})

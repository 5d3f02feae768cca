import type { ErrorType } from '@gatehouse/contract'
import { z } from 'zod'
import { pathArguments } from '../path-argument.ts'

export const version = '1.0'

export const pathField = (what: string) =>
  z
    .string()
    .min(1)
    .max(4096)
    .describe(`${what}. Absolute inside your folders, or relative to your workspace.`)
    .register(pathArguments, {})

/** A thing by its name: a link there is the thing itself. */
export const entryField = (what: string) =>
  z
    .string()
    .min(1)
    .max(4096)
    .describe(`${what}. Absolute inside your folders, or relative to your workspace.`)
    .register(pathArguments, { entry: true })

export const sha256Field = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'expected 64 lowercase hexadecimal characters')

export const withheldField = z
  .int()
  .describe('How many were left out because policy keeps them from this call.')

export const encodingField = z.enum(['utf-8', 'latin1', 'base64']).default('utf-8')

export const timeField = z.iso.datetime({ offset: true })

export const fileType = z.enum(['file', 'directory', 'symlink', 'other'])

export const entryFields = {
  type: fileType,
  size_bytes: z.int(),
  modified_at: z.string(),
}

/** Errors of any path. */
export const pathErrors = [
  'InvalidPath',
  'PathOutOfScope',
  'PathNotPermitted',
  'ProtectedPath',
  'FileNotFound',
  'NotADirectory',
  'PermissionRefused',
] as const satisfies readonly ErrorType[]

/** Errors of any change, besides. */
export const writeErrors = [
  ...pathErrors,
  'FolderNotFound',
  'ReadOnlyRoot',
  'IsADirectory',
  'NotARegularFile',
  'TooManyLinks',
  'StorageFull',
] as const satisfies readonly ErrorType[]

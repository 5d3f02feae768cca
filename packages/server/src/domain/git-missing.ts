import { GatehouseError } from '@gatehouse/contract'

/** The failure of git where the machine lacks a program of it. */
export const gitMissing = (program: string, options: ErrorOptions = {}): GatehouseError =>
  new GatehouseError(
    'GitFailed',
    { detail: `${program} is not installed where this service runs` },
    {
      ...options,
      recovery: [{ action: 'install git', description: 'An operator installs it on the machine.' }],
    },
  )

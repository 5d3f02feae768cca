import { GatehouseError } from '@gatehouse/contract'

/** The failure of a model where there is no engine to run it. */
export const engineMissing = ({
  problem,
  remedy,
}: {
  readonly problem?: string | null | undefined
  readonly remedy?: string | null | undefined
}): GatehouseError =>
  new GatehouseError('EngineNotInstalled', {
    reason: [problem ?? 'it is not installed', remedy].filter(Boolean).join('; '),
  })

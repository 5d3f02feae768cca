const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** A length in hours, minutes or seconds: the largest unit that fits it exactly. */
export const formatWindow = (ms: number): string => {
  const unit = (['h', 'm'] as const).find((one) => ms % unitMs[one] === 0)
  return `${Math.ceil(ms / unitMs[unit ?? 's'])}${unit ?? 's'}`
}

/** `30s`, `1m`, `1h`, `1d` → ms. Null for anything else. */
export const parseWindow = (text: string): number | null => {
  const found = /^([1-9]\d{0,5})([smhd])$/.exec(text)
  return found ? Number(found[1]) * unitMs[found[2] as keyof typeof unitMs] : null
}

import type { PolicyTier } from '@gatehouse/contract'
import { policyText as text } from '../../messages/policy.ts'
import { Badge } from '../../ui/badge.tsx'

const looks = {
  autonomous: { tone: 'good', icon: 'check' },
  approval_required: { tone: 'warn', icon: 'person' },
  blocked: { tone: 'bad', icon: 'cross' },
} as const

export const tiers = ['autonomous', 'approval_required', 'blocked'] as const

export const TierBadge = ({ tier }: { readonly tier: PolicyTier }) => (
  <Badge {...looks[tier]}>{text.tier[tier]}</Badge>
)

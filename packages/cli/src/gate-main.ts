// A further gate process of `gatehouse serve`.
import { holdYoungSpace } from '@gatehouse/server/platform/young-space'

const letYoungSpaceGrow = holdYoungSpace()
const { serveGate } = await import('@gatehouse/server/serve-gate')
serveGate(letYoungSpaceGrow)

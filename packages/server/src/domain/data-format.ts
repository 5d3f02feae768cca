/**
 * Form of what a data directory keeps beside its database, which has migrations of its own. A change that an older
 * program would misread raises it, so that the older program refuses.
 */
export const dataFormat = 1

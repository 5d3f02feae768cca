/**
 * Number of the form in which a data directory and its store keep data. Any change of the schema raises it
 * (data-format.test.ts compares the two), and so does a change of a file that an older program would misread:
 * the older program then refuses.
 */
export const dataFormat = 13

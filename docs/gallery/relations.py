"""What one guarantee implies of others.

Who promises LIP with ε = 1 on this prior also promises the dark bars, exactly; the pale ones are
bounds in closed form, as the literature has them.
"""

import mechdesign as md

md.plots.plot_relations(md.accounting.relations(md.LIP(1), md.Prior([0.2, 0.3, 0.5])))

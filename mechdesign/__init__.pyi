"""The public names, listed once: `lazy_loader` reads them here, and so do type checkers.

The namespaces hold the rest: what leaves the top is named by the error for it.
"""

from . import (
    accounting as accounting,
    collection as collection,
    continuous as continuous,
    estimation as estimation,
    mechanisms as mechanisms,
    plots as plots,
    reports as reports,
    sweeps as sweeps,
)
from .channel import Channel as Channel
from .closed_forms.universal import universal_channel as universal_channel
from .collection.records import privatize_file as privatize_file
from .collection.tables import privatize as privatize, tally as tally
from .continuous import (
    KDE as KDE,
    Box as Box,
    ContinuousProblem as ContinuousProblem,
    GaussianMixture as GaussianMixture,
    Histogram as Histogram,
    Interval as Interval,
    NamedLaw as NamedLaw,
    PlaneHistogram as PlaneHistogram,
    PlaneMixture as PlaneMixture,
    PlaneSamples as PlaneSamples,
    ProductLaw as ProductLaw,
    Samples as Samples,
)
from .designs.design import (
    certify as certify,
    design as design,
)
from .designs.min_epsilon import (
    min_epsilon as min_epsilon,
)
from .designs.solution import (
    Solution as Solution,
)
from .domain import (
    Domain as Domain,
)
from .errors import (
    CertificateError as CertificateError,
    InfeasibleError as InfeasibleError,
    InputError as InputError,
    LimitError as LimitError,
    MechdesignError as MechdesignError,
    RepeatedDrawWarning as RepeatedDrawWarning,
    SolverError as SolverError,
    UnsupportedError as UnsupportedError,
)
from .estimation import (
    estimate as estimate,
)
from .files import (
    load_channel as load_channel,
    load_mechanism as load_mechanism,
    load_problem as load_problem,
    save as save,
)
from .notions import (
    LDP as LDP,
    LIP as LIP,
    PML as PML,
    ApproximateLDP as ApproximateLDP,
    ApproximateLIP as ApproximateLIP,
    AsymmetricLift as AsymmetricLift,
    AttackError as AttackError,
    BlockLDP as BlockLDP,
    BoundedPriorLift as BoundedPriorLift,
    BoundedPriorLIP as BoundedPriorLIP,
    BoundedPriorPML as BoundedPriorPML,
    ContextAwareLDP as ContextAwareLDP,
    DifferentialIdentifiability as DifferentialIdentifiability,
    GVulnerabilityLeakage as GVulnerabilityLeakage,
    HighLowLDP as HighLowLDP,
    LinearNotion as LinearNotion,
    MaximalLeakage as MaximalLeakage,
    MetricPrivacy as MetricPrivacy,
    MutualInformationLeakage as MutualInformationLeakage,
    SensitiveAttribute as SensitiveAttribute,
    SensitiveAttributePrivacy as SensitiveAttributePrivacy,
)
from .prior import (
    Prior as Prior,
)
from .prior_sets import (
    PriorBall as PriorBall,
    PriorBox as PriorBox,
    PriorList as PriorList,
)
from .problem import (
    Problem as Problem,
)
from .sweeps import design_frontier as design_frontier, design_many as design_many
from .utilities import (
    BayesAccuracy as BayesAccuracy,
    ChiSquared as ChiSquared,
    ColumnUtility as ColumnUtility,
    ConvexUtility as ConvexUtility,
    Distortion as Distortion,
    EuclideanDistance as EuclideanDistance,
    FisherInformation as FisherInformation,
    GVulnerability as GVulnerability,
    HammingLoss as HammingLoss,
    KullbackLeibler as KullbackLeibler,
    L2Risk as L2Risk,
    MeanAbsoluteError as MeanAbsoluteError,
    MeanSquaredDistance as MeanSquaredDistance,
    MutualInformation as MutualInformation,
    PosteriorMeanSquaredError as PosteriorMeanSquaredError,
    SquaredHellinger as SquaredHellinger,
    TotalVariation as TotalVariation,
    TVRisk as TVRisk,
    UnbiasedVariance as UnbiasedVariance,
)

__version__: str
__all__: list[str]
